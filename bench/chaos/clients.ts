import type { Done } from '../../test/whole/chaos/expectation.ts'
import type { Operation } from '../../test/whole/chaos/operations.ts'
import type { Random } from '../../test/whole/chaos/random.ts'

/** Chooses the next operation on one subject from the outcome of the last. */
export type Client = (last: Done | null, random: Random) => Operation

type Metrics = Extract<Operation, { kind: 'metrics' }>
type Logs = Extract<Operation, { kind: 'logs' }>

const keys = ['train/loss', 'train/accuracy', 'val/loss', 'lr']

/**
 * Mostly new steps; sometimes a repeated batch, or a batch rewritten with other values, as after a resume. A batch
 * without a response is usually sent again, as real clients do, and sometimes abandoned.
 */
export function metricsClient(run: string, newSalt: () => number): Client {
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

/** Batches counted by `seq`, repeated until acknowledged; one in ten is repeated even after that. */
export function logsClient(run: string): Client {
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

export function hparamsClient(run: string, newSalt: () => number): Client {
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

export const rubricClient =
  (owner: string, name: string, newSalt: () => number): Client =>
  () => ({ kind: 'rubric', owner, name, salt: newSalt() })

/** Each run has a unique name; a creation without a response is not repeated. */
export function runsClient(project: string): Client {
  let created = 0
  return () => ({ kind: 'run', project, name: `made ${created++}` })
}
