# SPDX-License-Identifier: Apache-2.0
"""Section 4: a decode, in the order of its refusal points; section 10.3: carried state."""

from functions import FIELD_RANGE, GEOMETRY_MISMATCH, MODEL_MISMATCH, TOO_LARGE, Refusal, clamp
from operators import Tensor
from whg1 import CHECK, CLAMP, STATE, plan_sizes


class Sequence:
    """A run of decodes through one graph: its state is what the last completed decode left."""

    def __init__(self, graph):
        self.graph = graph
        self.states = {}  # position in the input table -> Tensor

    def decode(self, data_inputs, scalars, before_values=lambda inputs: None):
        """The output tensors, or a Refusal. data_inputs and scalars in their tables' order.
        `before_values` sees the data inputs before step 4 first reads a value."""
        inputs = self._inputs(data_inputs)
        check_scalars(self.graph, scalars)
        sizes = {record.tensor: (x.height, x.width)
                 for record, x in zip(self.graph.inputs, inputs)}
        plan_sizes(self.graph, sizes, scalars, GEOMETRY_MISMATCH)
        before_values(data_inputs)
        outputs = evaluate(self.graph, self._initialised(inputs), sizes, scalars)
        for k, record in enumerate(self.graph.inputs):
            if record.kind == STATE:
                self.states[k] = outputs[record.src]
        return outputs

    def _inputs(self, data_inputs):
        """Run step 1: each input in table order. A state not yet carried is all `init`."""
        supplied = iter(data_inputs)
        found = []
        for k, record in enumerate(self.graph.inputs):
            if record.kind != STATE:
                x = next(supplied)
            elif k in self.states:
                x = self.states[k]
            else:
                x = Tensor(self.graph.channels(record.tensor), found[0].height, found[0].width,
                           None)
            check_input(self.graph, k, record, x)
            found.append(x)
        return found

    def _initialised(self, inputs):
        """The inputs, with the elements of a state not yet carried."""
        return [x if x.data is not None
                else x._replace(data=[record.init] * (x.channels * x.area))
                for record, x in zip(self.graph.inputs, inputs)]


def check_input(graph, k, record, x):
    if x.channels != graph.channels(record.tensor) or x.height < 1 or x.width < 1:
        raise Refusal(MODEL_MISMATCH, f"input {k}: its shape")
    if graph.declares_sizes and (x.height > record.max_h or x.width > record.max_w):
        raise Refusal(TOO_LARGE, f"input {k}: past its declared size")
    if x.channels * x.area > graph.max_elems:
        raise Refusal(TOO_LARGE, f"input {k}: past max_elems")


def check_scalars(graph, scalars):
    """Run step 2."""
    for k, (value, (lo, hi)) in enumerate(zip(scalars, graph.scalars)):
        if not lo <= value <= hi:
            raise Refusal(FIELD_RANGE, f"scalar {k}")


def enforce(graph, tensor, data):
    """A tensor's policy on its elements."""
    record = graph.tensors[tensor]
    if record.policy == CLAMP:
        return [clamp(v, record.lo, record.hi) for v in data]
    if record.policy == CHECK and not (record.lo <= min(data) and max(data) <= record.hi):
        raise Refusal(FIELD_RANGE, f"tensor {tensor}")
    return data


def evaluate(graph, inputs, sizes, scalars):
    """Run step 4: the inputs' policies, then the operators in graph order."""
    tensors = {}
    for record, x in zip(graph.inputs, inputs):
        tensors[record.tensor] = x._replace(data=enforce(graph, record.tensor, x.data))
    for node in graph.nodes:
        shapes = [(graph.channels(t), *sizes[t]) for t in node.outs]
        results = node.op.evaluate(node.p, [tensors[t] for t in node.ins], shapes, scalars)
        for tensor, shape, data in zip(node.outs, shapes, results):
            tensors[tensor] = Tensor(*shape, enforce(graph, tensor, data))
    return [tensors[t] for t in graph.outputs]
