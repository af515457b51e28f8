import { Gauge } from 'prom-client'
import { relayLagMs } from '../command-api/relay/relay-batch.ts'
import type { Check } from '../platform/readiness.ts'
import { projections } from '../projector/compose.ts'
import { watchLag } from '../projector/runner/lag.ts'
import type { Runner } from '../projector/runner/runner.ts'
import type { Core } from './core.ts'

/** How far relay and projections are behind the commits and the log, as far as this process knows. */
export type Progress = { relay: () => Promise<Check>; projector: () => Promise<Check> }

/** Also sets the gauges of both. Every process reports the same lag, so take the maximum, not the sum. */
export function watchProgress(core: Core, runners: readonly Runner[]): Progress {
  const described = runners.length === 0 ? () => [] : describe(core, runners)
  if (runners.length > 0) gaugeProjections(core, described)
  if (core.relay.current) gaugeRelay(core)
  return {
    relay: () => relayCheck(core),
    async projector() {
      const all = described()
      const ok = all.every(({ halted }) => halted === null)
      return { ok, lag_ms: Math.max(0, ...all.map(({ lag_ms }) => lag_ms)), projections: all }
    },
  }
}

type Described = {
  projection: string
  lag_ms: number
  halted: string | null
  checkpoints: string[]
}

function describe(core: Core, runners: readonly Runner[]): () => Described[] {
  const { life, readPool: pool, log, topics, now } = core
  const watching = watchLag({ pool, log, projections: projections(topics), now })
  const { lagMs } = life.owns('lag watch', watching, watch => watch.stop())
  return () =>
    runners.map(runner => {
      const { projection, halted, checkpoints } = runner.status()
      return { projection, lag_ms: lagMs(projection), halted, checkpoints: checkpoints.map(String) }
    })
}

function gaugeProjections({ telemetry }: Core, described: () => Described[]): void {
  const labelNames = ['projection']
  const registers = [telemetry.registry]
  new Gauge({
    name: 'forge_projection_lag_seconds',
    help: 'Age of the oldest log record that has not been projected.',
    labelNames,
    registers,
    collect() {
      for (const { projection, lag_ms } of described()) this.set({ projection }, lag_ms / 1000)
    },
  })
  new Gauge({
    name: 'forge_projection_halted',
    help: '1 if this process cannot continue projecting; GET /api/readyz shows the reason.',
    labelNames,
    registers,
    collect() {
      for (const { projection, halted } of described()) this.set({ projection }, halted ? 1 : 0)
    },
  })
}

async function relayCheck({ pool, relay, now }: Core): Promise<Check> {
  const halted = relay.current?.halted() ?? null
  const lag_ms = await relayLagMs(pool, now())
  const { position = null, reason = null } = halted ?? {}
  return { ok: halted === null, lag_ms, halted: reason, position }
}

function gaugeRelay(core: Core): void {
  const registers = [core.telemetry.registry]
  new Gauge({
    name: 'forge_relay_lag_seconds',
    help: 'Age of the oldest decision that is not on the log yet.',
    registers,
    async collect() {
      const lag_ms = await relayLagMs(core.pool, core.now()).catch(() => null)
      if (lag_ms !== null) this.set(lag_ms / 1000)
    },
  })
  new Gauge({
    name: 'forge_relay_halted',
    help: '1 if this process cannot continue publishing decisions; GET /api/readyz shows the reason.',
    registers,
    collect() {
      this.set(core.relay.current?.halted() ? 1 : 0)
    },
  })
}
