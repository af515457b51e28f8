import { seededRandom } from '../../events/calculations/queue-forecast.ts'

export type Sample = {
  project: string
  name: string
  hparams: { lr: number; batch_size: number; seed: number }
  tags: string[]
  /** A value for each step. */
  values: Record<string, number[]>
  end: 'succeeded' | 'failed' | null
  lines: string[]
}

export const project = 'sweep'
export const steps = 1_000
export const keys = ['train/loss', 'val/loss', 'val/accuracy'] as const

const rates = [1e-4, 3e-4, 1e-3, 3e-3, 1e-2]
const sizes = [16, 32, 64, 128]
const seeds = 10

/** The tag of one run of the sweep, to be found by it. */
export const soughtTag = 'baseline'
export const failedName = 'sweep-diverged'
export const liveName = 'sweep-live'
export const lastError = 'RuntimeError: loss is NaN at step 412'

/** A sweep of 200 runs, then a run that failed and a live one: the same in every product. */
export function sampleRuns(): Sample[] {
  const sweep = rates.flatMap(lr =>
    sizes.flatMap(batch_size =>
      Array.from({ length: seeds }, (_, seed) => sweptRun({ lr, batch_size, seed })),
    ),
  )
  const shuffled = inMixedOrder(sweep)
  const sought = shuffled[120]
  if (sought) sought.tags.push(soughtTag)
  return [...otherRuns(), ...shuffled, failedRun(), liveRun()]
}

/** Another project, so that a product cannot open the right one by having no other. */
const otherRuns = (): Sample[] =>
  Array.from({ length: 5 }, (_, seed) => ({
    ...sweptRun({ lr: 1e-3, batch_size: 32, seed }),
    project: 'another',
    name: `another-${seed}`,
  }))

/** The run with the least final validation loss. */
export const bestOf = (runs: readonly Sample[]): Sample =>
  runs
    .filter(run => run.project === project && run.end === 'succeeded')
    .reduce((best, run) => (lastOf(run) < lastOf(best) ? run : best))

const lastOf = ({ values }: Sample): number =>
  values['val/loss']?.at(-1) ?? Number.POSITIVE_INFINITY

function sweptRun(hparams: Sample['hparams']): Sample {
  const { lr, batch_size, seed } = hparams
  return {
    project,
    name: `sweep-lr${lr}-b${batch_size}-s${seed}`,
    hparams,
    tags: ['sweep'],
    values: curvesOf(hparams, steps),
    end: 'succeeded',
    lines: [],
  }
}

/** The learning rate matters most, the batch size a little, the seed hardly. */
function curvesOf({ lr, batch_size, seed }: Sample['hparams'], count: number) {
  const random = seededRandom(Math.round(lr * 1e6) * 7919 + batch_size * 104_729 + seed)
  const floor =
    0.4 + 0.25 * (Math.log10(lr) + 2.5) ** 2 + 0.03 * Math.log2(batch_size / 16) + random() * 0.05
  const loss = Array.from({ length: count }, (_, step) => {
    const fallen = floor + 2.5 / (1 + step * Math.min(0.05, lr * 20))
    return { train: fallen + 0.05 * random(), val: fallen + 0.1 + 0.01 * random() }
  })
  return {
    'train/loss': loss.map(({ train }) => train),
    'val/loss': loss.map(({ val }) => val),
    'val/accuracy': loss.map(({ val }) => 1 / (1 + val)),
  }
}

function failedRun(): Sample {
  const hparams = { lr: 0.03, batch_size: 32, seed: 0 }
  const lines = Array.from(
    { length: 400 },
    (_, step) => `step ${step} loss=${(3 + step / 50).toFixed(4)}`,
  )
  return {
    project,
    name: failedName,
    hparams,
    tags: ['sweep'],
    values: curvesOf(hparams, 412),
    end: 'failed',
    lines: [
      ...lines,
      'Traceback (most recent call last):',
      '  File "train.py", line 88, in <module>',
      '    train(config)',
      '  File "train.py", line 61, in train',
      lastError,
    ],
  }
}

function liveRun(): Sample {
  const hparams = { lr: 1e-3, batch_size: 32, seed: 11 }
  const values = curvesOf(hparams, 100)
  return { project, name: liveName, hparams, tags: ['sweep'], values, end: null, lines: [] }
}

/** Sweeps do not run in the order of their parameters. */
function inMixedOrder<T>(all: readonly T[]): T[] {
  const random = seededRandom(1)
  return all
    .map(one => ({ one, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ one }) => one)
}
