# SPDX-License-Identifier: Apache-2.0
# The default model: the files of models/int_hyper/q1 to q3, where they are there, become one C file
# of the command. As a script (-P), it writes that file.
set(QP_MODEL_FILES h_s.whm g_s.whm entropy.json g_a.whm h_a.whm) # the set, then what lies beside it

# Appends the bytes of a file as a string of C, 32 a line.
function(qp_embed name path)
  file(READ ${path} hex HEX)
  file(SIZE ${path} size)
  string(REPEAT "[0-9a-f]" 64 line)
  string(REGEX REPLACE "(${line})" "\\1\n" hex "${hex}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "\\\\x\\1" hex "${hex}")
  string(REPLACE "\n" "\"\n    \"" hex "${hex}")
  file(APPEND ${OUTPUT} "static const uint8_t ${name}[${size}] =\n    \"${hex}\";\n")
endfunction()

function(qp_write_models)
  file(WRITE ${OUTPUT} "/* The default model, as cmake/models.cmake found it. */\n"
                       "#include \"cli/model.h\"\n\n")
  set(rows "")
  foreach(quality 1 2 3)
    set(folder ${MODELS}/q${quality})
    set(members "")
    set(index 0)
    foreach(file ${QP_MODEL_FILES})
      if(EXISTS ${folder}/h_a.whm)
        qp_embed(q${quality}_${index} ${folder}/${file})
        string(APPEND members
               "    {\"${file}\", q${quality}_${index}, sizeof q${quality}_${index}},\n")
      endif()
      math(EXPR index "${index} + 1")
    endforeach()
    if(members)
      file(APPEND ${OUTPUT} "static const qp_member q${quality}[] = {\n${members}};\n\n")
      string(APPEND rows "    {q${quality}, 3, 5},\n")
    else()
      string(APPEND rows "    {0, 0, 0},\n")
    endif()
  endforeach()
  file(APPEND ${OUTPUT} "const qp_model qp_models[QP_MODELS] = {\n${rows}};\n")
endfunction()

if(CMAKE_SCRIPT_MODE_FILE)
  qp_write_models()
else()
  set(QP_MODELS_FOLDER ${PROJECT_SOURCE_DIR}/models/int_hyper)
  set(QP_MODELS_C ${PROJECT_BINARY_DIR}/models.c)
  file(GLOB QP_MODELS_FOUND CONFIGURE_DEPENDS ${QP_MODELS_FOLDER}/q[1-3]/*.whm
                                              ${QP_MODELS_FOLDER}/q[1-3]/entropy.json)
  add_custom_command(
    OUTPUT ${QP_MODELS_C}
    COMMAND ${CMAKE_COMMAND} -D OUTPUT=${QP_MODELS_C} -D MODELS=${QP_MODELS_FOLDER} -P
            ${CMAKE_CURRENT_LIST_FILE}
    DEPENDS ${CMAKE_CURRENT_LIST_FILE} ${QP_MODELS_FOUND}
    COMMENT "Putting the default model into the command")
  # C promises strings of 4095 bytes; the compilers of this project take far longer ones.
  set_source_files_properties(${QP_MODELS_C} PROPERTIES COMPILE_OPTIONS
                                                        -Wno-overlength-strings)
endif()
