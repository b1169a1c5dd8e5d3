# SPDX-License-Identifier: Apache-2.0
"""Starts a real vLLM on a machine without a GPU, and generates some tokens.

    vllm_on_cpu.py MODEL_DIR

PyPI's wheel has no kernels for a CPU. So the whole of vLLM's front end and of its
compile path are its own, with its own keys and caches; here are the executor, which
computes all tokens anew in each step, and attention, by PyTorch. Prints one line of
JSON: what was compiled, what was loaded, and the tokens.
"""

import hashlib
import json
import os
import sys
import time
from concurrent.futures import Future

del sys.path[0]  # Beside this file stands a flashinfer.py, which is no FlashInfer.
BEGIN = time.monotonic()
os.environ.update({
    "VLLM_TARGET_DEVICE": "cpu", "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
    "VLLM_NO_USAGE_STATS": "1", "VLLM_HOST_IP": "127.0.0.1",
    "VLLM_USE_V2_MODEL_RUNNER": "0", "HF_HUB_OFFLINE": "1", "GLOO_SOCKET_IFNAME": "lo"})

# pylint: disable=wrong-import-position
import torch  # noqa: E402
import vllm  # noqa: E402
from torch._dynamo.utils import counters  # noqa: E402
from torch._inductor import cpu_vec_isa  # noqa: E402
from vllm.compilation.counter import compilation_counter  # noqa: E402
from vllm.compilation.passes.utility import fix_functionalization  # noqa: E402
from vllm.config import CompilationMode, set_current_vllm_config  # noqa: E402
from vllm.forward_context import set_forward_context  # noqa: E402
from vllm.model_executor.model_loader import get_model  # noqa: E402
from vllm.platforms.cpu import CpuPlatform  # noqa: E402
from vllm.v1.attention.backends.cpu_attn import CPUAttentionBackendImpl  # noqa: E402
from vllm.v1.executor.uniproc_executor import UniProcExecutor  # noqa: E402
from vllm.v1.outputs import ModelRunnerOutput  # noqa: E402
from vllm.v1.worker.gpu_worker import init_worker_distributed_environment  # noqa: E402


def attend(_self, _layer, query, key, value, _cache, _metadata, output, **_more):
    """Causal attention of one sequence."""
    query, key, value = (each.view(each.shape[0], -1, each.shape[-1]).transpose(0, 1)
                         for each in (query, key, value))
    result = torch.nn.functional.scaled_dot_product_attention(
        query, key, value, is_causal=True, enable_gqa=True)
    output.copy_(result.transpose(0, 1).reshape(output.shape))
    return output


class Executor(UniProcExecutor):
    """Compiles and runs the model, one request at a time, without a cache of keys."""

    def _init_executor(self):
        method, rank, local_rank = self._distributed_args()
        self.driver_worker = None
        self.tokens = []
        self.result = None
        with set_current_vllm_config(self.vllm_config):
            init_worker_distributed_environment(self.vllm_config, rank, method, local_rank,
                                                "gloo")
            self.model = get_model(vllm_config=self.vllm_config)

    def forward(self, tokens):
        with torch.no_grad(), set_current_vllm_config(self.vllm_config), \
                set_forward_context(None, self.vllm_config, num_tokens=len(tokens)):
            hidden = self.model(torch.tensor(tokens), torch.arange(len(tokens)))
            logits = self.model.compute_logits(hidden)[-1]
        self.result = hashlib.sha256(repr(logits.tolist()).encode()).hexdigest()
        return logits.argmax().item()

    def determine_available_memory(self):
        self.forward(list(range(64)))
        return [1 << 28]

    def get_kv_cache_specs(self):
        layers = self.vllm_config.compilation_config.static_forward_context
        return [{name: layer.get_kv_cache_spec(self.vllm_config)
                 for name, layer in layers.items()}]

    def get_supported_kv_cache_layouts(self):
        return [["NHD"]]

    def set_kv_cache_layout(self, *_args, **_more):
        pass

    def initialize_from_config(self, _configs):
        pass

    def compile_or_warm_up_model(self):
        pass

    def collective_rpc(self, *_args, **_more):
        return [None]

    @property
    def supported_tasks(self):
        return ("generate",)

    def execute_model(self, scheduled, non_block=False):
        requests = list(scheduled.num_scheduled_tokens)
        for request in scheduled.scheduled_new_reqs:
            self.tokens = list(request.prompt_token_ids)
        output = ModelRunnerOutput(req_ids=requests, req_id_to_index={})
        if requests:
            self.tokens.append(self.forward(self.tokens))
            output.req_id_to_index = {requests[0]: 0}
            output.sampled_token_ids = [[self.tokens[-1]]]
        if not non_block:
            return output
        future = Future()
        future.set_result(output)
        return future

    def shutdown(self):
        pass


def adapt(check_and_update):
    """Compile as on a GPU, which vLLM does not do on a CPU."""
    def check(cls, config):
        check_and_update(cls, config)
        config.compilation_config.mode = CompilationMode.VLLM_COMPILE
        config.compilation_config.compile_sizes = []
        config.parallel_config.distributed_executor_backend = Executor
    return classmethod(check)


def main():
    CpuPlatform.check_and_update_config = adapt(
        CpuPlatform.check_and_update_config.__func__)
    CPUAttentionBackendImpl.forward = attend
    # PyTorch asks the compiler for each set of instructions, and meanwhile changes the
    # flags that it shares: vLLM loads graphs in several threads, each of which asks. Then
    # flags stand there twice, and all that is compiled with them has another key.
    cpu_vec_isa.pick_vec_isa()
    # It names kernels that the wheel has for a GPU alone.
    fix_functionalization.FixFunctionalizationPass.__call__ = lambda _self, _graph: None
    engine = vllm.LLM(model=sys.argv[1], load_format="dummy", skip_tokenizer_init=True,
                      dtype="float32", seed=0, max_model_len=256, disable_log_stats=True,
                      kv_cache_memory_bytes=1 << 26)
    ready = time.monotonic() - BEGIN
    said = engine.generate(
        [{"prompt_token_ids": list(range(3, 19))}],
        vllm.SamplingParams(temperature=0.0, max_tokens=8, ignore_eos=True,
                            detokenize=False), use_tqdm=False)
    compiled = vars(compilation_counter)
    core = engine.llm_engine.engine_core.engine_core
    print(json.dumps({
        "version": vllm.__version__, "torch": torch.__version__, "ready_s": round(ready, 1),
        "tokens": list(said[0].outputs[0].token_ids),
        "result": core.model_executor.result,
        "graphs": compiled["num_inductor_compiles"],
        "code": compiled["num_aot_compiles"],
        "loaded_graphs": compiled["num_compiled_artifacts_loaded"],
        "loaded_code": compiled["num_aot_artifacts_loaded"],
        "misses": counters["aot_autograd"]["autograd_cache_miss"]}), flush=True)
    os._exit(0)


if __name__ == "__main__":
    main()
