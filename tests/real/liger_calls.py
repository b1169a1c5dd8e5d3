# SPDX-License-Identifier: Apache-2.0
"""Calls of Liger-Kernel's functions, forward and backward, as models make them."""
import torch

BATCH, LENGTH, HIDDEN, WORDS = 2, 128, 1024, 4000
ROWS = BATCH * LENGTH


def made(*shape, dtype=torch.bfloat16, grad=True):
    return torch.full(shape, 0.5, dtype=dtype, device="cuda", requires_grad=grad)


def whole(*shape, below=WORDS):
    """Numbers below a limit."""
    count = 1
    for size in shape:
        count *= size
    return (torch.arange(count, device="cuda") % below).reshape(shape)


def backward(result):
    results = result if isinstance(result, (tuple, list)) else [result]
    wanted = [one for one in results if isinstance(one, torch.Tensor) and one.requires_grad]
    torch.autograd.backward(wanted, [torch.ones_like(one) for one in wanted])


def x3():
    return made(BATCH, LENGTH, HIDDEN)


def rotary(width=64):
    return (made(BATCH, LENGTH, width, grad=False), made(BATCH, LENGTH, width, grad=False))


def heads(count, size=64):
    return made(BATCH, count, LENGTH, size)


def grpo(loss_type):
    def call(ops):
        done = ops.GrpoLossFunction.apply(
            made(BATCH, LENGTH + 1, WORDS), made(BATCH, LENGTH, dtype=torch.float32, grad=False),
            made(BATCH, LENGTH, dtype=torch.float32, grad=False), whole(BATCH, LENGTH),
            made(BATCH, dtype=torch.float32, grad=False),
            whole(BATCH, LENGTH, below=1) + 1, 0.9, 0.04, 0.2, 0.2, False, loss_type)
        return done[0]
    return call


def mhc_coefficients(ops):
    copies = 4
    return ops.LigerMHCCoeffsFunction.apply(
        made(BATCH, LENGTH, copies, HIDDEN),
        made(copies * HIDDEN, copies * copies + 2 * copies, dtype=torch.float32),
        made(copies * copies + 2 * copies, dtype=torch.float32),
        *(made(dtype=torch.float32) for _ in range(3)), False, 20, 1e-6, 0.0, 1e-6, 2.0)


def moe(ops):
    experts, inner = 8, 256
    return ops.LigerFusedMoEFunction.apply(
        made(ROWS, HIDDEN), made(experts, 2 * inner, HIDDEN), made(experts, HIDDEN, inner),
        whole(ROWS, 2, below=experts).to(torch.int32), made(ROWS, 2))


# A name, and what calls the functions of liger_kernel.ops.
CALLS = {
    "attention residual": lambda ops: ops.LigerAttnResFunction.apply(
        made(4, BATCH, LENGTH, HIDDEN), made(HIDDEN), made(HIDDEN), 1e-6),
    "cross entropy": lambda ops: ops.LigerCrossEntropyFunction.apply(
        made(ROWS, WORDS), whole(ROWS), None)[0],
    "cross entropy, all options": lambda ops: ops.LigerCrossEntropyFunction.apply(
        made(ROWS, WORDS), whole(ROWS), made(WORDS, dtype=torch.float32, grad=False), -100,
        1e-4, 0.1, "sum", 30.0, True)[0],
    "dynamic tanh": lambda ops: ops.LigerDyTFunction.apply(
        x3(), made(1), made(HIDDEN), made(HIDDEN)),
    "added RMS norm": lambda ops: ops.LigerFusedAddRMSNormFunction.apply(
        x3(), x3(), made(HIDDEN), 1e-6),
    "cross entropy and TVD": lambda ops: ops.LigerFusedCETVDFunction.apply(
        made(ROWS, WORDS), made(ROWS, WORDS, grad=False), whole(ROWS)),
    "linear cross entropy": lambda ops: ops.LigerFusedLinearCrossEntropyFunction.apply(
        made(ROWS, HIDDEN), made(WORDS, HIDDEN), whole(ROWS), made(WORDS))[0],
    "linear JSD": lambda ops: ops.LigerFusedLinearJSDFunction.apply(
        made(ROWS, HIDDEN), made(WORDS, HIDDEN), made(ROWS, HIDDEN, grad=False),
        made(WORDS, HIDDEN, grad=False), whole(ROWS)),
    "linear KL divergence": lambda ops: ops.LigerFusedLinearKLDivFunction.apply(
        made(ROWS, HIDDEN), made(WORDS, HIDDEN),
        made(ROWS, WORDS, dtype=torch.float32, grad=False)),
    "mixture of experts": moe,
    "neighborhood attention": lambda ops: ops.LigerFusedNeighborhoodAttentionFunction.apply(
        heads(4), heads(4), heads(4)),
    "GeGLU": lambda ops: ops.LigerGELUMulFunction.apply(x3(), x3()),
    "group norm": lambda ops: ops.LigerGroupNormFunction.apply(
        made(BATCH, 32, HIDDEN), made(32), made(32), 32, 4, 1e-6),
    **{f"GRPO loss, {kind}": grpo(kind) for kind in ("grpo", "dapo", "cispo", "sapo")},
    "JSD": lambda ops: ops.LigerJSDFunction.apply(
        made(ROWS, WORDS), made(ROWS, WORDS, grad=False), whole(ROWS)),
    "KL divergence": lambda ops: ops.LigerKLDivLossFunction.apply(
        made(ROWS, WORDS), made(ROWS, WORDS, grad=False)),
    "KL divergence of logarithms": lambda ops: ops.LigerKLDivLossFunction.apply(
        made(ROWS, WORDS), made(ROWS, WORDS, grad=False), "none", True),
    "layer norm": lambda ops: ops.LigerLayerNormFunction.apply(
        x3(), made(HIDDEN), made(HIDDEN), 1e-6),
    "Llama 4 rope": lambda ops: ops.LigerLlama4RopeFunction.apply(
        made(BATCH, LENGTH, 8, 64), made(BATCH, LENGTH, 4, 64),
        torch.ones(LENGTH, 32, dtype=torch.complex64, device="cuda")),
    "MHC, coefficients": mhc_coefficients,
    "MHC, before": lambda ops: ops.LigerMHCPreFunction.apply(
        made(BATCH, LENGTH, 4, HIDDEN), made(BATCH, LENGTH, 4, dtype=torch.float32)),
    "MHC, after": lambda ops: ops.LigerMHCPostResFunction.apply(
        made(BATCH, LENGTH, 4, HIDDEN), x3(), made(BATCH, LENGTH, 4, dtype=torch.float32),
        made(BATCH, LENGTH, 4, 4, dtype=torch.float32)),
    "MLP": lambda ops: ops.LigerMLPFunction.apply(
        x3(), made(2048, HIDDEN), made(2048, HIDDEN), made(HIDDEN, 2048)),
    "modulated RMS norm": lambda ops: ops.LigerModulatedRMSNormFunction.apply(
        x3(), made(HIDDEN), made(BATCH, HIDDEN), made(BATCH, HIDDEN), 1e-6),
    "multi-token attention": lambda ops: ops.LigerMultiTokenAttentionFunction.apply(
        made(BATCH, 4, 64, 64), made(4, 4, 3, 3), made(4), 1, 1),
    "poly norm": lambda ops: ops.LigerPolyNormFunction.apply(x3(), made(3), made()),
    "Qwen 2 rope": lambda ops: ops.LigerQwen2VLMRopeFunction.apply(
        heads(8), heads(4), *(made(3, BATCH, LENGTH, 64, grad=False) for _ in range(2)),
        [16, 8, 8]),
    "squared ReLU": lambda ops: ops.LigerReLUSquaredFunction.apply(x3()),
    "RMS norm": lambda ops: ops.LigerRMSNormFunction.apply(x3(), made(HIDDEN), 1e-6),
    "RMS norm, as Gemma's": lambda ops: ops.LigerRMSNormFunction.apply(
        x3(), made(HIDDEN), 1e-6, 1.0, "gemma", False),
    "RMS norm of many short rows": lambda ops: ops.LigerRMSNormFunction.apply(
        made(40000, 128), made(128), 1e-6),
    "rope": lambda ops: ops.LigerRopeFunction.apply(heads(8), heads(4), *rotary()),
    "softmax": lambda ops: ops.LigerSoftmaxFunction.apply(x3()),
    "softmax of long rows": lambda ops: ops.LigerSoftmaxFunction.apply(made(4, 65000)),
    "sparsemax": lambda ops: ops.LigerSparsemaxFunction.apply(x3(), -1),
    "SwiGLU": lambda ops: ops.LigerSiLUMulFunction.apply(x3(), x3()),
    "SwiGLU of one product": lambda ops: ops.LigerFusedGateUpSiLUMulFunction.apply(
        made(ROWS, 2 * HIDDEN)),
    "vocabulary-parallel cross entropy": lambda ops: ops.LigerVocabParallelCEFunction.apply(
        made(LENGTH, BATCH, WORDS), whole(LENGTH, BATCH), None, -100, 0.1, "megatron", "partition"),
    "TVD": lambda ops: ops.LigerTVDLossFunction.apply(
        made(ROWS, WORDS), made(ROWS, WORDS, grad=False), whole(ROWS)),
}


def call_all(tell):
    """Each call; `tell` gets the name of one that fails, and why."""
    from liger_kernel import ops

    for name, call in CALLS.items():
        try:
            backward(call(ops))
        except Exception as error:
            tell(name, error)
