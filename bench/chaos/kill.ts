import { setTimeout as pause } from 'node:timers/promises'
import { until } from '../../test/servers/until.ts'
import type { Random } from '../../test/whole/chaos/random.ts'
import type { Target, TargetName } from './targets.ts'

export type KillReport = {
  kills: Record<TargetName, number>
  /** Milliseconds from a kill until the server was ready again, if measured. */
  recoveryMs: number[]
}

export type KillOptions = {
  targets: readonly Target[]
  kills: number
  random: Random
  isReady(): Promise<boolean>
  report(line: string): void
}

/** Between two kills, in milliseconds. */
const restMs = { min: 1_500, max: 5_000 }
/** Sometimes the next kill hits during the recovery from the last. */
const doubleKill = { chance: 0.15, withinMs: 700 }
const recoverWithinMs = 60_000

/** Kills random processes one after another. Throws if the server does not recover. */
export async function killAtRandom(options: KillOptions): Promise<KillReport> {
  const { targets, random, report } = options
  const result: KillReport = { kills: { server: 0, postgres: 0, broker: 0 }, recoveryMs: [] }
  const drawn = targets.flatMap(target => Array.from({ length: target.weight }, () => target))
  for (let kill = 1; kill <= options.kills; ) {
    const target = random.pick(drawn)
    const pid = await target.kill()
    const began = performance.now()
    if (pid !== null) {
      result.kills[target.name]++
      report(`kill ${kill++}/${options.kills}: ${target.name} (pid ${pid})`)
    }
    if (random.chance(doubleKill.chance)) {
      await pause(random.whole(0, doubleKill.withinMs))
      continue
    }
    // A kill is not always noticed at once; without this wait, readiness could still be the old one.
    await pause(100)
    await until('the server is ready again', recoverWithinMs, options.isReady, 20)
    result.recoveryMs.push(performance.now() - began)
    await pause(random.whole(restMs.min, restMs.max))
  }
  return result
}
