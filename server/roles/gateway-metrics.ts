import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { Observed } from '../../gateway/gateway.ts'
import type { TrafficRow } from '../../schemas/traffic.ts'

const seconds = [0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300]

/** The scraper's metrics of requests to deployments. `underWay`: admitted requests that have not ended. */
export function gatewayMetrics(
  registry: Registry,
  underWay: () => number,
): Observed & { recorded(row: TrafficRow): void } {
  const registers = [registry]
  const answers = new Counter({
    name: 'forge_inference_requests_total',
    help: 'Requests to deployments, by status and source of the error.',
    labelNames: ['status', 'error_source'],
    registers,
  })
  const tokens = new Counter({
    name: 'forge_inference_tokens_total',
    help: 'Tokens of requests to deployments, as reported by engines or counted from stream chunks.',
    labelNames: ['kind', 'usage_source'],
    registers,
  })
  const judging = new Histogram({
    name: 'forge_inference_admission_seconds',
    help: 'Time a gateway took to admit or refuse a request, which is most of the latency it adds.',
    buckets: [0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.1, 0.5, 2],
    registers,
  })
  const firstByte = new Histogram({
    name: 'forge_inference_first_byte_seconds',
    help: 'Time from an admitted request to the first byte of its response.',
    buckets: seconds,
    registers,
  })
  const duration = new Histogram({
    name: 'forge_inference_duration_seconds',
    help: 'Time from an admitted request to the end of its response.',
    buckets: seconds,
    registers,
  })
  const unreached = new Counter({
    name: 'forge_inference_engine_failures_total',
    help: 'Failed calls to engines that refused the connection or broke off before responding; another engine may have been tried.',
    registers,
  })
  new Gauge({
    name: 'forge_inference_in_flight',
    help: 'Requests to deployments that are under way in this process.',
    registers,
    collect() {
      this.set(underWay())
    },
  })
  return {
    judged: ms => judging.observe(ms / 1000),
    answered: ({ status, source }) =>
      answers.inc({ status: String(status), error_source: source ?? 'none' }),
    unreached: () => unreached.inc(),
    recorded({ prompt_tokens, completion_tokens, usage_source, ttft_ms, duration_ms }) {
      tokens.inc({ kind: 'prompt', usage_source }, prompt_tokens ?? 0)
      tokens.inc({ kind: 'completion', usage_source }, completion_tokens ?? 0)
      if (ttft_ms !== null) firstByte.observe(ttft_ms / 1000)
      duration.observe(duration_ms / 1000)
    },
  }
}
