import { until } from '../../test/servers/until.ts'
import { type Operation, type Write, writesOf } from '../../test/whole/chaos/operations.ts'
import type { Drive } from './drive.ts'
import { type Reader, readBack } from './read-back.ts'

const acknowledgeWithinMs = 60_000
const visibleWithinMs = 120_000
const fenceKey = 'fence'
/** Above any batch of the load. */
const fenceSeq = 1_000_000_000

/** A final operation for each run, rubric and project of the load. */
export function fencesFor(
  {
    runs,
    rubrics,
    project,
  }: { runs: readonly string[]; rubrics: readonly string[]; project: string },
  newSalt: () => number,
): Operation[] {
  return [
    ...runs.flatMap((run): Operation[] => [
      { kind: 'metrics', run, keys: [fenceKey], first_step: 1, steps: 1, salt: newSalt() },
      { kind: 'logs', run, seq: fenceSeq, lines: 1 },
      { kind: 'hparams', run, params: { [fenceKey]: newSalt() } },
    ]),
    ...rubrics.map(
      (name): Operation => ({ kind: 'rubric', owner: 'admin', name, salt: newSalt() }),
    ),
    { kind: 'run', project, name: fenceKey },
  ]
}

/**
 * Writes each fence and waits until all are readable. Earlier operations on a subject precede its fence on the log,
 * so by then they have been applied, or are lost.
 */
export async function quiesce(
  load: Drive,
  reader: Reader,
  fences: readonly Operation[],
): Promise<void> {
  for (const fence of fences) await load.insist(fence, acknowledgeWithinMs)
  for (const fence of fences)
    await until(`the last ${fence.kind} can be read`, visibleWithinMs, async () =>
      holds(await readAround(fence, reader), fence),
    )
}

const readAround = (fence: Operation, reader: Reader): Promise<Write[]> =>
  readBack(reader, fence, fence.kind === 'metrics' ? fence.keys : undefined)

const holds = (found: readonly Write[], fence: Operation) =>
  writesOf(fence).every(({ register, value }) =>
    found.some(write => write.register === register && write.value === value),
  )
