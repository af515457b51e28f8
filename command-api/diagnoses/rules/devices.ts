import type { HardwarePoint } from '../../../events/diagnosis-facts.ts'
import { toTimestamp } from '../../../schemas/timestamp.ts'
import { excerptOf } from './clean.ts'
import { type Case, exitEvidence, type Finding, nowhere, type Rule, stepAt } from './finding.ts'
import { action, setVariable, tryAgain } from './patches.ts'
import { findingsOf, type Signature } from './signatures.ts'

const broken = {
  category: 'gpu_error',
  blame: 'hardware',
  cause:
    'The GPU or its driver reported a fault. Running the same job on another GPU shows whether the program is to blame.',
  suggest: (given: Case) => [
    action('Have the GPU checked, and keep jobs off it until then'),
    ...tryAgain(given, 'node_failure'),
  ],
} as const

const ofTheMachine = {
  category: 'node_failure',
  blame: 'hardware',
  cause:
    'The machine, or the supervisor of the job on it, stopped responding while the job was running.',
  suggest: (given: Case) => tryAgain(given, 'node_failure'),
} as const

const signatures: readonly Signature[] = [
  {
    ...broken,
    pattern: /NVRM: Xid \(([^)]{1,60})\): (\d{1,4})/,
    subcategory: 'xid',
    confidence: 0.96,
    title: ([, , code]) => `The driver reported Xid ${code}`,
  },
  {
    ...broken,
    pattern:
      /uncorrectable ECC error|double[- ]bit ECC|cudaErrorECCUncorrectable|row remapping (?:failure|pending)/i,
    subcategory: 'ecc',
    confidence: 0.96,
    title: 'Uncorrectable GPU memory error',
  },
  {
    ...broken,
    pattern:
      /GPU has fallen off the bus|GPU is lost|Unable to determine the device handle for GPU/i,
    subcategory: 'lost',
    confidence: 0.94,
    title: 'A GPU is lost',
  },
  {
    ...broken,
    pattern:
      /CUDA error: (?:unspecified launch failure|hardware stack error|misaligned address|uncorrectable)|cudaErrorHardwareStackError|NVLink.{0,60}error/i,
    subcategory: 'launch_failure',
    confidence: 0.8,
    title: 'The GPU failed while running a kernel',
  },
  {
    ...broken,
    pattern:
      /No CUDA GPUs are available|no CUDA-capable device is detected|CUDA driver initialization failed|CUDA unknown error|NVIDIA-SMI has failed/i,
    subcategory: 'driver',
    blame: 'platform',
    confidence: 0.85,
    title: 'The program sees no GPU',
    cause: 'The program found no usable GPU: the driver did not load, or the job got no GPU.',
    suggest: () => [
      action('Check that the profile has GPUs and that nvidia-smi works on that machine'),
    ],
  },
  {
    category: 'code_exception',
    blame: 'user',
    pattern:
      /CUDA error: (?:device-side assert triggered|an illegal memory access was encountered)/,
    subcategory: 'cuda_kernel',
    confidence: 0.82,
    title: ([text]) => text,
    cause:
      'A kernel read or wrote where it must not: mostly an index or a label that is out of range.',
    suggest: given => setVariable(given, 'CUDA_LAUNCH_BLOCKING', '1'),
  },
  {
    ...ofTheMachine,
    pattern: /DUE TO NODE FAILURE|\bNODE_FAIL\b|node \S{1,100} (?:is )?(?:not responding|down)\b/i,
    subcategory: 'scheduler',
    confidence: 0.95,
    title: 'A node failed',
  },
  {
    ...ofTheMachine,
    pattern:
      /kernel panic|Input\/output error.{0,60}\/dev\/|EXT4-fs error|nvme\d+: .{0,60}(?:reset|failed)/i,
    subcategory: 'machine',
    confidence: 0.85,
    title: 'The machine failed',
  },
]

function lostMachine(given: Case): Finding[] {
  if (given.end.reason !== 'node_failure') return []
  const step = stepAt(given, given.until_ms)
  return [
    {
      category: 'node_failure',
      subcategory: 'lost',
      blame: 'platform',
      confidence: 0.94,
      title: `The machine or its supervisor was lost${step === null ? '' : ` after step ${step}`}`,
      root_cause: ofTheMachine.cause,
      origin: { ...nowhere, ts: given.until_ms, step },
      evidence: [
        exitEvidence(
          given,
          excerptOf(
            given.end.message ??
              given.end.launch_error ??
              'the end of the attempt was not observed',
          ),
          0.8,
        ),
      ],
      suggestions: ofTheMachine.suggest(given),
      sameness: 'lost',
      isEcho: false,
    },
  ]
}

const isFault = ({ name, value }: HardwarePoint) =>
  /(?:^|[._])(?:xid|ecc_\w*uncorrect\w*)/i.test(name) && value > 0

/** A fault that the hardware samples show. */
function sampledFault(given: Case): Finding[] {
  const point = given.hardware.find(isFault)
  if (!point) return []
  const { ts, node, index, name, value } = point
  return [
    {
      category: 'gpu_error',
      subcategory: /xid/i.test(name) ? 'xid' : 'ecc',
      blame: 'hardware',
      confidence: 0.92,
      title: `GPU ${index ?? '?'}${node === null ? '' : ` of ${node}`} reported ${excerptOf(name, 60)} ${value}`,
      root_cause: broken.cause,
      origin: { node, rank: null, ts, step: stepAt(given, ts) },
      evidence: [
        {
          kind: 'hardware',
          ref: { ts: toTimestamp(new Date(ts)), node, index },
          excerpt: excerptOf(`${name} = ${value}`),
          weight: 0.9,
        },
      ],
      suggestions: broken.suggest(given),
      sameness: `sampled ${name}`,
      isEcho: false,
    },
  ]
}

/** GPUs and machines that failed. */
export const deviceRule: Rule = given => [
  ...findingsOf(given, signatures),
  ...lostMachine(given),
  ...sampledFault(given),
]
