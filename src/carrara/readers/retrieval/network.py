"""The network of all-MiniLM-L6-v2, computed with products of bytes.

Its package stores each weight as a byte, with a scale for each column, in a graph that computes with floats. This
module puts the same bytes into a graph that multiplies bytes by bytes, which processors do four times faster. The
activations become bytes as well, with a scale for each row. So no row depends on another, and sums of whole numbers are
the same in any order.

The values of a text's first and last token stay products of floats. Attention heads without a target look at these two,
so their errors would affect all tokens alike, and the mean over tokens would not reduce them.
"""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

_LAYERS = 6
_WIDTH = 384
_EVEN, _LOW = 128, 16
"""The byte that stands for 0: in the middle, or near the end (after GELU, whose values are at least -0.17)."""
_MATRICES = {
    "Q": "attention.self.query",
    "K": "attention.self.key",
    "V": "attention.self.value",
    "O": "attention.output.dense",
    "I": "intermediate.dense",
    "F": "output.dense",
}
"""The order in which a layer multiplies by its matrices. The package's graph has no other names for them."""
_NORMS = {"seen": "attention.output.LayerNorm", "said": "output.LayerNorm"}

_GRAPH = """
<ir_version: 9, opset_import: ["" : 20, "com.microsoft" : 1, "carrara" : 1]>
minilm (int64[texts, length] ids) => (float[texts, length, 384] states) {{
    shape = Shape(ids)
    wide = Concat <axis = 0> (shape, width)
    length = Gather(shape, one)
    place = Slice(places, nought, length)
    word_bytes = Gather(words, ids)
    word_scale = Gather(words_scale, ids)
    word_floats = Cast <to = 1> (word_bytes)
    word = Mul(word_floats, word_scale)
    word_and_place = Add(word, place)
    embedded = LayerNormalization <epsilon = 1e-12> (word_and_place, gain, shift)
    x0 = Reshape(embedded, narrow)
    {layers}
    states = Reshape(x{last}, wide)
}}
"""
_LAYER = """
    x{n}_bytes, x{n}_scale = carrara.bytes(x{n}, even)
    query{n} = carrara.product(x{n}_bytes, x{n}_scale, even, Q{n}, Q{n}_scale, weight_zero, Q{n}_bias)
    key{n} = carrara.product(x{n}_bytes, x{n}_scale, even, K{n}, K{n}_scale, weight_zero, K{n}_bias)
    value{n} = carrara.product(x{n}_bytes, x{n}_scale, even, V{n}, V{n}_scale, weight_zero, V{n}_bias)

    x{n}_wide = Reshape(x{n}, wide)
    x{n}_ends = Gather <axis = 1> (x{n}_wide, ends)
    unbiased_ends{n} = MatMul(x{n}_ends, V{n}_floats)
    value_ends{n} = Add(unbiased_ends{n}, V{n}_bias)
    value_first{n}, value_last{n} = Split <axis = 1, num_outputs = 2> (value_ends{n})
    value_wide{n} = Reshape(value{n}, wide)
    value_inner{n} = Slice(value_wide{n}, one, minus_one, one)

    queries{n} = Reshape(query{n}, wide)
    keys{n} = Reshape(key{n}, wide)
    values{n} = Concat <axis = 1> (value_first{n}, value_inner{n}, value_last{n})
    heads{n} = com.microsoft.MultiHeadAttention <num_heads = 12> (queries{n}, keys{n}, values{n})
    head{n} = Reshape(heads{n}, narrow)
    head{n}_bytes, head{n}_scale = carrara.bytes(head{n}, even)
    seen{n} = carrara.product(head{n}_bytes, head{n}_scale, even, O{n}, O{n}_scale, weight_zero, O{n}_bias)
    x_and_seen{n} = Add(x{n}, seen{n})
    y{n} = LayerNormalization <epsilon = 1e-12> (x_and_seen{n}, seen{n}_gain, seen{n}_shift)

    y{n}_bytes, y{n}_scale = carrara.bytes(y{n}, even)
    thought{n} = carrara.product(y{n}_bytes, y{n}_scale, even, I{n}, I{n}_scale, weight_zero, I{n}_bias)
    gelu{n} = Gelu(thought{n})
    gelu{n}_bytes, gelu{n}_scale = carrara.bytes(gelu{n}, low)
    said{n} = carrara.product(gelu{n}_bytes, gelu{n}_scale, low, F{n}, F{n}_scale, weight_zero, F{n}_bias)
    y_and_said{n} = Add(y{n}, said{n})
    x{next} = LayerNormalization <epsilon = 1e-12> (y_and_said{n}, said{n}_gain, said{n}_shift)
"""
_FUNCTIONS = """
<domain: "carrara", opset_import: ["" : 20]>
bytes (x, zero) => (whole, scale) {
    last = Constant <value_ints = [-1]> ()
    top = Constant <value_float = 255.0> ()
    below = Cast <to = 1> (zero)
    above = Sub(top, below)
    highest = ReduceMax(x, last)
    lowest = ReduceMin(x, last)
    depth = Neg(lowest)
    scale_above = Div(highest, above)
    scale_below = Div(depth, below)
    scale = Max(scale_above, scale_below)
    row_scales = Reshape(scale, last)
    rows = Shape(row_scales)
    zeros = Expand(zero, rows)
    whole = QuantizeLinear <axis = 0> (x, row_scales, zeros)
}

<domain: "carrara", opset_import: ["" : 20, "com.microsoft" : 1]>
product (whole, scale, zero, weight, weight_scale, weight_zero, bias) => (y) {
    unit = Constant <value_float = 1.0> ()
    unscaled = com.microsoft.MatMulIntegerToFloat (whole, weight, unit, weight_scale, zero, weight_zero)
    unbiased = Mul(unscaled, scale)
    y = Add(unbiased, bias)
}
"""
_PROBE = """
<ir_version: 9, opset_import: ["" : 20]>
probe (uint8[16, 16] x, int8[16, 16] y) => (int32[16, 16] z) { z = MatMulInteger(x, y) }
"""


def start_session(package: Path) -> Any:
    """Return a session of ONNX Runtime, which computes token vectors from token ids of texts of one length."""
    from onnx.numpy_helper import from_array
    from onnx.parser import parse_model

    layers = "".join(_LAYER.format(n=n, next=n + 1) for n in range(_LAYERS))
    model = parse_model(_GRAPH.format(layers=layers, last=_LAYERS) + _FUNCTIONS)
    constants = {
        "even": np.uint8(_EVEN),
        "low": np.uint8(_LOW),
        "width": np.array([_WIDTH]),
        "narrow": np.array([-1, _WIDTH]),
        "nought": np.array([0]),
        "one": np.array([1]),
        "minus_one": np.array([-1]),
        "ends": np.array([0, -1]),
    }
    arrays = constants | _weights(package, signed=_multiplies_signed_bytes())
    model.graph.initializer.extend(from_array(np.asarray(array), name) for name, array in arrays.items())
    return _session(model)


def _session(model: Any) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    # Further optimization fuses a sum and a norm into one node, which takes five times as long as the two (measured).
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def _weights(package: Path, signed: bool) -> dict[str, Array]:
    import onnx
    from onnx.numpy_helper import to_array

    graph = onnx.load(package).graph
    kept = {tensor.name: to_array(tensor) for tensor in graph.initializer}
    factors = [node.input[1] for node in graph.node if node.op_type == "MatMul"]
    matrices = iter([name for name in factors if f"{name}_q" in kept])

    def floats(name: str) -> Array:
        product: Array = kept[f"{name}_q"] * kept[f"{name}_scale"]
        return product

    embeddings = "inner.embeddings."
    arrays = {
        "words": kept[f"{embeddings}word_embeddings.weight_q"],
        "words_scale": kept[f"{embeddings}word_embeddings.weight_scale"],
        "places": floats(f"{embeddings}position_embeddings.weight")
        + kept[f"{embeddings}token_type_embeddings.weight"][0],
        "gain": kept[f"{embeddings}LayerNorm.weight"],
        "shift": kept[f"{embeddings}LayerNorm.bias"],
        "weight_zero": np.int8(0) if signed else np.uint8(_EVEN),
    }
    for n in range(_LAYERS):
        layer = f"inner.encoder.layer.{n}."
        for matrix, path in _MATRICES.items():
            name = next(matrices)
            whole = kept[f"{name}_q"]
            arrays[f"{matrix}{n}"] = whole if signed else (whole.astype(np.int16) + _EVEN).astype(np.uint8)
            arrays[f"{matrix}{n}_scale"] = kept[f"{name}_scale"].reshape(-1)
            arrays[f"{matrix}{n}_bias"] = kept[f"{layer}{path}.bias"]
            if matrix == "V":
                arrays[f"V{n}_floats"] = floats(name)
        for norm, path in _NORMS.items():
            arrays[f"{norm}{n}_gain"] = kept[f"{layer}{path}.weight"]
            arrays[f"{norm}{n}_shift"] = kept[f"{layer}{path}.bias"]
    return arrays


def _multiplies_signed_bytes() -> bool:
    """Return whether products by signed bytes are right. On x86 without VNNI, intermediate sums are cut off at 16 bits.

    There the weights are shifted to unsigned bytes, which is slower and gives the same whole numbers.
    """
    from onnx.parser import parse_model

    highest = np.full((16, 16), 255, np.uint8), np.full((16, 16), 127, np.int8)
    [product] = _session(parse_model(_PROBE)).run(None, dict(zip("xy", highest, strict=True)))
    return bool((product == 16 * 255 * 127).all())
