import { setTimeout as pause } from 'node:timers/promises'
import type { SmallDisk } from '../../test/servers/small-disk.ts'
import { until } from '../../test/servers/until.ts'
import type { Random } from '../../test/whole/chaos/random.ts'
import type { Target, TargetName } from './targets.ts'

export type KillReport = {
  kills: Record<TargetName, number>
  /** Milliseconds from a kill, or from the moment the disk had room again, until the server was ready, if measured. */
  recoveryMs: number[]
}

export type KillOptions = {
  targets: readonly Target[]
  kills: number
  random: Random
  isReady(): Promise<boolean>
  /** The body of `readyz`, for the report. */
  readiness(): Promise<string>
  /** Each process is killed while this disk is full. */
  fullDisk: FullDisk | null
  report(line: string): void
}

export type FullDisk = {
  disk: Pick<SmallDisk, 'fill' | 'free'>
  /** How long it stays full at each kill. */
  ms: number
}

/** Between two kills, in milliseconds. */
const restMs = { min: 1_500, max: 5_000 }
/** Sometimes the next kill hits during the recovery from the last. */
const doubleKill = { chance: 0.15, withinMs: 700 }
const recoverWithinMs = 60_000

/** Kills random processes one after another. Throws if the server does not recover. */
export async function killAtRandom(options: KillOptions): Promise<KillReport> {
  const { targets, random, report, fullDisk } = options
  const result: KillReport = { kills: { server: 0, postgres: 0, broker: 0 }, recoveryMs: [] }
  const drawn = targets.flatMap(target => Array.from({ length: target.weight }, () => target))
  for (let kill = 1; kill <= options.kills; ) {
    const target = random.pick(drawn)
    const freed = fullDisk && fillFor(fullDisk, report)
    if (fullDisk) await pause(random.whole(0, fullDisk.ms))
    const pid = await target.kill()
    if (pid !== null) {
      result.kills[target.name]++
      report(`kill ${kill++}/${options.kills}: ${target.name} (pid ${pid})`)
    }
    if (freed) await freed
    else if (random.chance(doubleKill.chance)) {
      await pause(random.whole(0, doubleKill.withinMs))
      continue
    }
    const began = performance.now()
    // A kill is not always noticed at once; without this wait, readiness could still be the old one.
    await pause(100)
    await until('the server is ready again', recoverWithinMs, options.isReady, 20).catch(
      async error => {
        report(`not ready again: ${await options.readiness()}`)
        throw error
      },
    )
    result.recoveryMs.push(performance.now() - began)
    await pause(random.whole(restMs.min, restMs.max))
  }
  return result
}

/** Resolves when the disk has room again. */
async function fillFor({ disk, ms }: FullDisk, report: (line: string) => void): Promise<void> {
  disk.fill()
  report(`the disk is full for ${ms / 1000} s`)
  await pause(ms)
  disk.free()
}
