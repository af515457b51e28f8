import type { Done } from './expectation.ts'
import type { Operation } from './operations.ts'
import type { Random } from './random.ts'

/** Chooses the next operation on one subject from what came of those before it. */
export type Lane = (last: Done | null, random: Random) => Operation

type Metrics = Extract<Operation, { kind: 'metrics' }>
type Logs = Extract<Operation, { kind: 'logs' }>

const keys = ['train/loss', 'train/accuracy', 'val/loss', 'lr']

/**
 * New steps most of the time; now and then a batch sent once more, or written anew with other values, as after
 * a resume. What got no answer is mostly sent again, as a client does, and sometimes given up.
 */
export function metricsLane(run: string, newSalt: () => number): Lane {
  let nextStep = 1
  const sent: Metrics[] = []
  const fresh = (random: Random): Metrics => {
    const steps = random.whole(1, 12)
    const operation: Metrics = {
      kind: 'metrics',
      run,
      keys: keys.slice(0, random.whole(1, keys.length)),
      first_step: nextStep,
      steps,
      salt: newSalt(),
    }
    nextStep += steps
    sent.push(operation)
    if (sent.length > 50) sent.shift()
    return operation
  }
  return (last, random) => {
    if (last?.operation.kind === 'metrics' && last.outcome !== 'ok' && random.chance(0.8))
      return random.chance(0.75) ? last.operation : { ...last.operation, salt: newSalt() }
    if (sent.length === 0 || random.chance(0.9)) return fresh(random)
    const earlier = random.pick(sent)
    return random.chance(0.5) ? earlier : { ...earlier, salt: newSalt() }
  }
}

/** Batches counted by `seq`, sent again until acknowledged; one in ten twice, though acknowledged. */
export function logsLane(run: string): Lane {
  let nextSeq = 0
  return (last, random) => {
    const isOurs = last?.operation.kind === 'logs'
    if (isOurs && last.outcome !== 'ok' && random.chance(0.95)) return last.operation
    if (isOurs && last.outcome === 'ok' && random.chance(0.1)) return last.operation
    const operation: Logs = { kind: 'logs', run, seq: nextSeq, lines: random.whole(1, 5) }
    nextSeq++
    return operation
  }
}

export function hparamsLane(run: string, newSalt: () => number): Lane {
  return (_, random) => ({
    kind: 'hparams',
    run,
    params: Object.fromEntries(
      Array.from({ length: random.whole(1, 3) }, () => [
        `model.p${random.whole(0, 40)}`,
        newSalt(),
      ]),
    ),
  })
}

export const rubricLane =
  (owner: string, name: string, newSalt: () => number): Lane =>
  () => ({ kind: 'rubric', owner, name, salt: newSalt() })

/** Each run has a name of its own; a creation without an answer is not repeated. */
export function runsLane(project: string): Lane {
  let created = 0
  return () => ({ kind: 'run', project, name: `made ${created++}` })
}
