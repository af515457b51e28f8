import type { Context } from 'koa'
import type { Registry } from 'prom-client'
import { Type } from 'typebox'
import type { Route } from '../auth/route.ts'
import { route } from '../auth/route.ts'
import { type Readiness, withoutDetails } from '../platform/readiness.ts'
import { Refusal } from '../platform/refusal.ts'
import type { Clock } from '../platform/time.ts'

export type GeneralDeps = {
  version: string
  readiness: () => Promise<Readiness>
  /** Whether a readiness request comes from an administrator or the scraper. */
  maySeeDetails: (ctx: Context) => Promise<boolean>
  registry: Registry
  /** Null if none is configured. */
  securityContact: string | null
  now: Clock
  /** A function, because the document covers all routes of the process and they are built later. */
  openApi: () => Record<string, unknown>
}

/** The JobSpec dialect this control plane speaks (specification, "Versioning"). */
export const dialect = 'forge/v2'

/** RFC 9116 asks for less than a year. */
const contactValidMs = 180 * 86_400_000

export const generalRoutes = (deps: GeneralDeps): Route[] => [
  route({
    method: 'GET',
    path: '/api/version',
    credential: 'none',
    tag: 'general',
    summary: 'Which server this is and which dialect it speaks',
    response: Type.Object({ server: Type.String(), core: Type.String(), api: Type.String() }),
    handle: async () => ({ server: deps.version, core: deps.version, api: dialect }),
  }),
  route({
    method: 'GET',
    path: '/healthz',
    credential: 'none',
    tag: 'general',
    summary: 'Whether the process is alive',
    response: Type.Object({ status: Type.Literal('ok') }),
    handle: async () => ({ status: 'ok' }),
  }),
  route({
    method: 'GET',
    path: '/api/readyz',
    credential: 'none',
    tag: 'general',
    summary: 'Whether every part this server needs works; administrators see the details',
    response: Type.Object({
      status: Type.String(),
      checks: Type.Record(Type.String(), Type.Unknown()),
    }),
    async handle({ ctx }) {
      const readiness = await deps.readiness()
      ctx.status = ['ready', 'degraded'].includes(readiness.status) ? 200 : 503
      return (await deps.maySeeDetails(ctx)) ? readiness : withoutDetails(readiness)
    },
  }),
  securityContactRoute(deps),
  route({
    method: 'GET',
    path: '/api/openapi.json',
    credential: 'none',
    tag: 'general',
    summary: 'OpenAPI 3.1 of every route',
    response: Type.Object({ openapi: Type.String() }),
    handle: async () => deps.openApi(),
  }),
  route({
    method: 'GET',
    path: '/api/metrics',
    credential: 'metrics',
    tag: 'general',
    summary: 'Prometheus metrics of this process',
    response: { mediaType: 'text/plain', description: 'Prometheus text format' },
    async handle({ ctx }) {
      ctx.type = deps.registry.contentType
      return deps.registry.metrics()
    },
  }),
]

const securityContactRoute = ({ securityContact, now }: GeneralDeps): Route =>
  route({
    method: 'GET',
    path: '/.well-known/security.txt',
    credential: 'none',
    tag: 'general',
    summary: 'Where to report a vulnerability (RFC 9116), if this installation says so',
    response: { mediaType: 'text/plain', description: 'A contact, and until when it is valid' },
    refusals: ['not_found'],
    async handle({ ctx }) {
      if (securityContact === null)
        throw new Refusal('not_found', 'This installation names no contact for security')
      ctx.type = 'text/plain; charset=utf-8'
      const expires = new Date(now().getTime() + contactValidMs)
      return `Contact: ${securityContact}\nExpires: ${expires.toISOString()}\n`
    },
  })
