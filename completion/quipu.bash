# SPDX-License-Identifier: Apache-2.0
# bash completion for quipu

_quipu() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} verb=${COMP_WORDS[1]}
    local verbs="info certify run compare dump assemble lower encode decode upscale set"
    verbs="$verbs convert verify hash extract pack tensor formats fabric vectors conform"
    local options=""
    COMPREPLY=()

    if [ "$COMP_CWORD" -eq 1 ]; then
        mapfile -t COMPREPLY < <(compgen -W "$verbs --help --version" -- "$word")
        return
    fi
    case $before in
    --profile)
        mapfile -t COMPREPLY < <(compgen -W "acc32 acc64" -- "$word")
        return
        ;;
    --format)
        if [ "$verb" = tensor ]; then
            mapfile -t COMPREPLY < <(compgen -W "$(quipu formats formats 2>/dev/null |
                awk 'NR > 2 { print $1 }')" -- "$word")
        else
            mapfile -t COMPREPLY < <(compgen -W "npy png" -- "$word")
        fi
        return
        ;;
    --quality)
        mapfile -t COMPREPLY < <(compgen -W "1 2 3" -- "$word")
        return
        ;;
    --container)
        mapfile -t COMPREPLY < <(compgen -W "ninfer gguf safetensors" -- "$word")
        return
        ;;
    --cpu)
        mapfile -t COMPREPLY < <(compgen -W "all none avx2 avx512 neon" -- "$word")
        return
        ;;
    --weights-dir | --set)
        mapfile -t COMPREPLY < <(compgen -d -- "$word")
        return
        ;;
    esac
    case $verb in
    info) options="--tensor --json -o" ;;
    certify) options="--digest --html --profile --admissible --json -o" ;;
    run)
        options="--output --format --scalar --sequence --profile --reference --digest --json"
        options="$options --trace --trace-tensors --time -o"
        ;;
    compare) options="--force --all --html --json" ;;
    dump) options="--output --weights-dir -o" ;;
    assemble) options="--output -o" ;;
    lower) options="--capability --pin --linear --input --json --output -o" ;;
    encode) options="--quality --set --capability --step --json --output -o" ;;
    decode) options="--set --digest --y4m --pin --receipt --max-memory --output -o" ;;
    upscale) options="--prior --digest --max-memory --output -o" ;;
    set) options="info pin verify --capability --quality --pin --output -o" ;;
    convert)
        options="--to --recipe --imatrix --plan --json --name --max-file-bytes --container --threads"
        options="$options --rows-per-chunk --cpu --force --quiet"
        ;;
    verify) options="--threads --json --quiet" ;;
    hash) options="--all --tensor --threads --json -o" ;;
    extract) options="--words --output -o" ;;
    pack) options="--set --to --recipe --name --force --output -o" ;;
    tensor)
        options="encode decode --format --layout --shape --method --importance --negative-scales"
        options="$options --divisors --words -o"
        ;;
    formats) options="formats layouts methods files --json --markdown -o" ;;
    fabric)
        if [ "$COMP_CWORD" -eq 2 ]; then
            options="check relation supports templates map configure decode simulate show"
            mapfile -t COMPREPLY < <(compgen -W "$options --help" -- "$word")
            return
        fi
        case ${COMP_WORDS[2]} in
        check) options="--json -o" ;;
        relation) options="--fabric --unit --op --json -o" ;;
        supports) options="--fabric --unit --op --graph --actor --in --out --json -o" ;;
        templates) options="--fabric --unit --json -o" ;;
        map) options="--graph --fabric --limit --work --json -o" ;;
        configure) options="--map --fabric --json --abi -o" ;;
        decode) options="--image --fabric --json -o" ;;
        simulate)
            options="--tokens --stalls --stall-seed --map --reset --cycles --watch --vcd"
            options="$options --pipeline --golden --graph -o"
            ;;
        show) options="--fabric --unit --templates --template --map -o" ;;
        esac
        ;;
    conform) options="--profile --json" ;;
    esac
    case $word in
    -*) mapfile -t COMPREPLY < <(compgen -W "$options --help" -- "$word") ;;
    *) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
    esac
}

complete -o filenames -F _quipu quipu
