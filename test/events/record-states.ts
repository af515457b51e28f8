import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { aggregates } from '../../events/all.ts'
import { type RecordedStates, statesAfter, statesFile } from './golden.ts'

// `npm run record-states`: adds the states of new events, and of aggregates whose shape was raised; a state that has
// changed without that is left, so that its test keeps failing.
for (const aggregate of aggregates) {
  if (!aggregate.snapshot) continue
  const { shape } = aggregate.snapshot
  const file = statesFile(aggregate.name)
  const before: RecordedStates | null = existsSync(file)
    ? JSON.parse(readFileSync(file, 'utf8'))
    : null
  const kept = before?.shape === shape ? before.after : {}
  const after = { ...Object.fromEntries(statesAfter(aggregate)), ...kept }
  const recorded: RecordedStates = { shape, after }
  if (isDeepStrictEqual(before, recorded)) continue
  writeFileSync(file, `${JSON.stringify(recorded, null, 2)}\n`)
  process.stdout.write(`${aggregate.name}: shape ${shape}, ${Object.keys(after).length} states\n`)
}
