import type {
  DefinedBenchmark,
  DefinedVersion,
  DefinitionEvent,
} from '../../events/benchmark-definitions.ts'
import { Refusal } from '../../platform/refusal.ts'

export type DefineBenchmark = Omit<DefinedVersion, 'version' | 'owner'>

/** Makes the next version. Idempotent: repeating the newest one appends no event. Who defines a name first owns it. */
export function defineBenchmark(
  known: DefinedBenchmark,
  command: DefineBenchmark,
  caller: { username: string; role: 'admin' | 'operator' },
): DefinitionEvent[] {
  const owner = known?.owner ?? caller.username
  if (owner !== caller.username && caller.role !== 'admin')
    throw new Refusal(
      'forbidden',
      `The benchmark ${command.name} is ${owner}'s; only they and admins may define its next version`,
    )
  if (known?.digest === command.digest) return []
  return [
    {
      type: 'benchmark.defined',
      data: { ...command, owner, version: (known?.version ?? 0) + 1 },
    },
  ]
}
