import type { Context, Middleware, Next } from 'koa'
import { collectDefaultMetrics, Histogram, Registry } from 'prom-client'

export type HttpMetrics = { middleware: Middleware }

export type Telemetry = {
  registry: Registry
  http: HttpMetrics
}

/**
 * Prometheus metrics of one process, in a separate registry, so that tests can hold several. Other parts register
 * their metrics here.
 */
export function telemetry(): Telemetry {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const duration = new Histogram({
    name: 'forge_http_request_duration_seconds',
    help: 'Time from the first byte of a request to its response, by route.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers: [registry],
  })
  return {
    registry,
    http: { middleware: observe(duration) },
  }
}

function observe(duration: Histogram): Middleware {
  // Looking a series up by its labels costs more than counting; methods, routes and statuses are few.
  const series = new Map<string, Histogram.Internal<string>>()
  const seriesOf = (method: string, route: string, status: string) => {
    const name = `${method} ${route} ${status}`
    const known = series.get(name) ?? duration.labels(method, route, status)
    series.set(name, known)
    return known
  }
  return async (ctx: Context, next: Next) => {
    const started = performance.now()
    await next()
    const seconds = (performance.now() - started) / 1000
    seriesOf(ctx.method, ctx.state.route ?? 'none', String(ctx.status)).observe(seconds)
  }
}
