import { type Chance, chanceOf } from './chance.ts'

export type Point = { key: string; step: number; value: number | 'NaN' }
export type Sample = {
  user: string
  assistant: string
  reward: number
  extra: { reference: string }
}

/** A run of the demonstration, complete but for the times, which are those of its arrival. */
export type PlannedRun = {
  project: string
  owner: string
  name: string
  tags: string[]
  hparams: Record<string, string | number | boolean>
  points: Point[]
  lines: { stream: 'stdout' | 'stderr'; text: string }[]
  rounds: { step: number; samples: Sample[] }[]
  gpus: number
  checkpoints: number[]
  end: { event: 'succeeded' } | { event: 'failed'; exit_code: number; message: string } | null
}

export const people = ['ada', 'grace', 'lin'] as const

type Kind = {
  project: string
  models: readonly [string, ...string[]]
  score: string
  classes: number
  hasSamples: boolean
}

const kinds: readonly Kind[] = [
  {
    project: 'vision',
    models: ['resnet50', 'vit-b16', 'convnext'],
    score: 'val/accuracy',
    classes: 4,
    hasSamples: false,
  },
  {
    project: 'speech',
    models: ['whisper-small', 'conformer'],
    score: 'val/accuracy',
    classes: 0,
    hasSamples: false,
  },
  {
    project: 'language',
    models: ['gpt-124m', 'llama-1b'],
    score: 'val/accuracy',
    classes: 0,
    hasSamples: false,
  },
  {
    project: 'rlhf',
    models: ['grpo-7b', 'dpo-7b'],
    score: 'val/reward',
    classes: 0,
    hasSamples: true,
  },
]

/** What the workspace of each project shows first: which hyperparameters matter for the loss. */
export const firstPanels = [
  { kind: 'importance', metric: 'train/loss:min' },
  {
    ...{ kind: 'scatter', x: 'hparams.lr', y: 'train/loss:min', logX: true },
    colour: 'hparams.batch_size',
  },
  {
    kind: 'parallel',
    axes: [
      ...['hparams.optimizer', 'hparams.batch_size', 'hparams.weight_decay', 'hparams.lr'],
      'train/loss:min',
    ],
    colour: 'train/loss:min',
  },
]

const steps = 2_000
const valEvery = 50

/** The same runs for the same seed, most of them done, some failed in ways that people know. */
export function plannedRuns(count = 60, seed = 20_261): PlannedRun[] {
  const chance = chanceOf(seed)
  return Array.from({ length: count }, (_, nth) => plannedRun(nth, chance))
}

type Failure = { message: string; lines: string[] } | 'nan' | null

function plannedRun(nth: number, chance: Chance): PlannedRun {
  const kind = kinds[nth % kinds.length] as Kind
  const lr = Number((10 ** chance.between(-4.5, -2.5)).toPrecision(2))
  const model = chance.of(kind.models)
  const failure = failureOf(nth, chance)
  const length = failure === null ? steps : Math.floor(steps * chance.between(0.2, 0.9))
  const points = curvesOf(kind, { lr, length, chance })
  if (failure === 'nan') points.push({ key: 'train/loss', step: length, value: 'NaN' })
  return {
    project: kind.project,
    owner: people[nth % people.length] ?? people[0],
    name: `${model} lr ${lr}`,
    tags: [chance.of(['baseline', 'sweep', 'ablation']), model],
    hparams: {
      lr,
      batch_size: chance.of([16, 32, 64, 128]),
      optimizer: chance.of(['adamw', 'lion', 'sgd']),
      weight_decay: chance.of([0, 0.01, 0.1]),
      bf16: chance.next() < 0.7,
    },
    points,
    lines: logLinesOf(points, failure),
    rounds: kind.hasSamples ? roundsOf(length, chance) : [],
    gpus: nth % 3 === 0 ? chance.of([1, 4, 8]) : 0,
    checkpoints: [500, 1_000, 1_500, 2_000].filter(step => step <= length),
    end: endOf(nth, failure),
  }
}

const failures: readonly [Failure, ...Failure[]] = [
  {
    message:
      'Traceback (most recent call last):\n  File "train.py", line 88, in step\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB',
    lines: ['torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.'],
  },
  {
    message:
      'Traceback (most recent call last):\n  File "data.py", line 31, in __getitem__\nFileNotFoundError: [Errno 2] No such file or directory: \'/data/shard-00117.tar\'',
    lines: ["FileNotFoundError: [Errno 2] No such file or directory: '/data/shard-00117.tar'"],
  },
  'nan',
]

const failureOf = (nth: number, chance: Chance): Failure =>
  nth % 6 === 4 ? chance.of(failures) : null

/** The newest ones still run. */
function endOf(nth: number, failure: Failure): PlannedRun['end'] {
  if (failure === 'nan')
    return { event: 'failed', exit_code: 1, message: 'FloatingPointError: loss is NaN' }
  if (failure) return { event: 'failed', exit_code: 1, message: failure.message }
  return nth >= 57 ? null : { event: 'succeeded' }
}

function curvesOf(
  { score, classes }: Kind,
  { lr, length, chance }: { lr: number; length: number; chance: Chance },
): Point[] {
  const [start, floor] = [chance.between(2, 5), chance.between(0.2, 0.6)]
  const pace = chance.between(200, 600)
  const lossAt = (step: number) => floor + start * Math.exp(-step / pace)
  return Array.from({ length }, (_, step) => {
    const warm = Math.min(1, step / 100)
    const every: Point[] = [
      { key: 'train/loss', step, value: lossAt(step) + 0.04 * chance.normal() },
      { key: 'train/lr', step, value: lr * warm * (1 - step / (steps * 1.05)) },
    ]
    if (step % valEvery !== 0) return every
    const quality = 1 - Math.exp(-step / (pace * 1.2))
    return [
      ...every,
      { key: 'val/loss', step, value: lossAt(step) + 0.1 + 0.02 * chance.normal() },
      { key: score, step, value: quality * chance.between(0.9, 0.94) },
      ...Array.from({ length: classes }, (_, nth) => ({
        key: `${score}/class_${nth}`,
        step,
        value: quality * (0.95 - 0.05 * nth),
      })),
    ]
  }).flat()
}

function logLinesOf(points: readonly Point[], failure: Failure): PlannedRun['lines'] {
  const losses = points.filter(({ key, step }) => key === 'train/loss' && step % 10 === 0)
  const out = losses.map(({ step, value }) => ({
    stream: 'stdout' as const,
    text: `step ${step} loss ${typeof value === 'number' ? value.toFixed(4) : value}`,
  }))
  const said = failure !== null && failure !== 'nan' ? failure.lines : []
  return [
    { stream: 'stdout', text: '\u001b[32mall ranks are up\u001b[0m' },
    ...out,
    ...said.map(text => ({ stream: 'stderr' as const, text })),
  ]
}

/** Sums, which a model learns in the course of its rounds. */
function roundsOf(length: number, chance: Chance): PlannedRun['rounds'] {
  return [0, 0.25, 0.5, 0.75, 1].map(part => {
    const step = Math.floor(length * part)
    const samples = Array.from({ length: 32 }, (_, nth) => {
      const [a, b] = [nth + 2, 3 * nth + 1]
      const isRight = chance.next() < 0.2 + 0.7 * part
      return {
        user: `What is ${a} plus ${b}? Explain in one sentence.`,
        assistant: `Adding ${b} to ${a} gives ${isRight ? a + b : a + b + 1 + (nth % 4)}.`,
        reward: Number(((isRight ? 0.8 : 0.1) + 0.1 * chance.normal()).toFixed(3)),
        extra: { reference: `Adding ${b} to ${a} gives ${a + b}.` },
      }
    })
    return { step, samples }
  })
}
