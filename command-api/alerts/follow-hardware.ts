import { decodeHardware, type HardwarePoint } from '../../events/hardware.ts'
import type { Deps } from '../deps.ts'
import { type Follower, factFollower } from '../effects/follower.ts'
import { nothing, rows } from '../effects/outcome.ts'
import { runMemory } from './memory.ts'
import { observations } from './observations.ts'
import { saveObserved } from './rows.ts'

const paceMs = 1000

/** Records when each run last used one of its GPUs; the timers decide whether an alert fires. */
export function hardwareAlerts(): Follower<Pick<Deps, 'pool' | 'store'>> {
  const memory = runMemory()
  const sampled = observations()
  return factFollower({
    name: 'gpu-watch',
    topic: 'hardware',
    begins: 'end',
    onPoison: 'park',
    paceMs,
    begin() {
      memory.clear()
      sampled.clear()
    },
    async follow({ run_id, attempt, body, received_at_ms }, deps) {
      const run = await memory.recall(run_id, deps)
      if (run === null) return nothing
      for (const { ts_ms, used_pct } of gpusIn(decodeHardware(body).points)) {
        // A clock that is ahead must not hide that the GPU is idle from then on.
        const ms = Math.min(ts_ms, received_at_ms)
        for (const { rule, for_s, below } of run.rules.gpus)
          sampled.note(run_id, { rule, for_s, attempt: attempt ?? 0 }, ms, used_pct >= below)
      }
      const observed = sampled.due(received_at_ms)
      return observed.length === 0 ? nothing : [rows(tx => saveObserved(tx, observed))]
    },
  })
}

const gpusIn = (points: readonly HardwarePoint[]) =>
  points.flatMap(({ scope, ts_ms, readings: { util_pct: used_pct } }) =>
    scope === 'gpu' && used_pct !== undefined ? [{ ts_ms, used_pct }] : [],
  )
