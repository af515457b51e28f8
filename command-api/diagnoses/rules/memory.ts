import { excerptOf } from './clean.ts'
import { type Case, exitEvidence, type Finding, nowhere, type Rule, stepAt } from './finding.ts'
import {
  action,
  checkpointActivations,
  fewerWorkers,
  halveBatch,
  moreOf,
  setVariable,
  shortenSequences,
} from './patches.ts'
import { findingsOf, type Signature } from './signatures.ts'
import type { CaseLine, Traceback } from './traceback.ts'

/** The data being allocated, judging by the functions on the stack. */
function allocated(_: Case, { text }: CaseLine, traceback: Traceback | null): string | null {
  const stack = (traceback?.frames ?? []).map(({ file, name }) => `${file} ${name}`).join('\n')
  if (/kv.?cache|PagedAttention|block_manager/i.test(`${text}\n${stack}`)) return 'kv_cache'
  if (/optim[\w/.]* (?:step|_init_group|zero_grad)|adamw?\.py/i.test(stack)) return 'optimizer'
  if (/from_pretrained|load_state_dict|load_model|_load_checkpoint| (?:to|cuda)$/im.test(stack))
    return 'weights'
  if (/backward|forward|_call_impl|loss/i.test(stack)) return 'activation'
  return null
}

const fragmented = /reserved by PyTorch but unallocated/i

const lessGpuMemory = (given: Case, match: RegExpExecArray) => [
  ...halveBatch(given),
  ...checkpointActivations(given),
  ...(fragmented.test(match.input)
    ? setVariable(given, 'PYTORCH_CUDA_ALLOC_CONF', 'expandable_segments:True')
    : []),
  ...shortenSequences(given),
]

const gpu = {
  category: 'gpu_oom',
  blame: 'user',
  cause:
    'The program requested more memory than the GPU has left. Its memory use (weights, gradients, optimizer state, activations) grows with the batch size and the sequence length.',
  suggest: lessGpuMemory,
} as const

const host = {
  category: 'host_oom',
  blame: 'user',
  cause: 'A process requested more main memory than was available or allowed.',
  suggest: (given: Case) => [
    ...moreOf(given, 'memory_gb'),
    ...fewerWorkers(given),
    ...halveBatch(given),
  ],
} as const

const signatures: readonly Signature[] = [
  {
    ...gpu,
    pattern: /(?:CUDA|HIP) out of memory|(?:cuda|torch)\.OutOfMemoryError/,
    subcategory: allocated,
    confidence: 0.95,
    title: 'CUDA out of memory',
  },
  {
    ...gpu,
    pattern: /CUDA error: out of memory|cudaErrorMemoryAllocation|CUDA_ERROR_OUT_OF_MEMORY/,
    subcategory: allocated,
    confidence: 0.93,
    title: 'CUDA out of memory',
  },
  {
    ...gpu,
    pattern: /CUBLAS_STATUS_ALLOC_FAILED|CUDNN_STATUS_ALLOC_FAILED/,
    subcategory: 'workspace',
    confidence: 0.85,
    title: 'No GPU memory left for a library',
  },
  {
    ...gpu,
    pattern: /RESOURCE_EXHAUSTED: (?:Out of memory|.{0,200}allocat)/i,
    subcategory: allocated,
    confidence: 0.92,
    title: 'The accelerator ran out of memory',
  },
  {
    ...gpu,
    pattern:
      /No available memory for the cache blocks|larger than the maximum number of tokens that can be stored in KV cache/i,
    subcategory: 'kv_cache',
    confidence: 0.9,
    title: 'No GPU memory left for the key-value cache',
    suggest: given => [
      action('Give the inference engine a larger share of the GPU (gpu_memory_utilization)'),
      ...shortenSequences(given),
    ],
  },
  {
    ...host,
    pattern: /insufficient shared memory \(shm\)|Unable to (?:open|allocate) shared memory/i,
    subcategory: 'shm',
    confidence: 0.96,
    title: 'Out of shared memory',
    cause:
      'Data loader workers pass batches through shared memory, and there was not enough of it.',
    suggest: given => [...moreOf(given, 'shm_gb'), ...fewerWorkers(given)],
  },
  {
    ...host,
    pattern:
      /DataLoader worker \(pid[^)]{0,40}\) is killed by signal: Killed|DataLoader worker \(pid\(s\) [\d, ]{1,200}\) exited unexpectedly/,
    subcategory: 'data_loader',
    confidence: 0.9,
    title: 'A data loader worker was killed',
    cause:
      'The kernel kills processes where memory runs out, and it chose a worker that loads data.',
    suggest: given => [...fewerWorkers(given), ...moreOf(given, 'memory_gb')],
  },
  {
    ...host,
    pattern: /(?:^|\b)(?:numpy\.\S{1,60})?(?:_ArrayMemoryError|MemoryError)\b/,
    subcategory: null,
    confidence: 0.93,
    title: 'Out of memory',
  },
  {
    ...host,
    pattern:
      /std::bad_alloc|(?:Errno 12\]|OSError:.{0,80}) ?Cannot allocate memory|DefaultCPUAllocator: (?:can't|not enough memory)|JavaScript heap out of memory/,
    subcategory: null,
    confidence: 0.93,
    title: 'Out of memory',
  },
  {
    ...host,
    pattern:
      /oom[-_ ]kill(?:er|ed)?\b|Out of memory: Killed process|Memory cgroup out of memory|OUT_OF_MEMORY\b|OOMKilled/i,
    subcategory: 'oom_killer',
    confidence: 0.97,
    title: 'Killed for lack of memory',
  },
]

/** The engine saw the kernel kill it for its memory use. */
function killedForMemory(given: Case): Finding[] {
  const { end, attempt } = given
  if (!end.oom_killed && end.reason !== 'oom_killed') return []
  const step = stepAt(given, given.until_ms)
  return [
    {
      category: 'host_oom',
      subcategory: 'oom_killer',
      blame: 'user',
      confidence: 0.99,
      title: `Killed for lack of memory${step === null ? '' : ` after step ${step}`}`,
      root_cause: host.cause,
      origin: { ...nowhere, ts: given.until_ms, step },
      evidence: [
        exitEvidence(given, excerptOf(`attempt ${attempt ?? 1}: killed for lack of memory`), 0.9),
      ],
      suggestions: host.suggest(given),
      sameness: 'oom_killed',
      isEcho: false,
    },
  ]
}

/** GPUs and machines that ran out of memory. */
export const memoryRule: Rule = given => [
  ...findingsOf(given, signatures),
  ...killedForMemory(given),
]
