import type { Pool } from 'pg'
import type { Logger } from 'pino'
import type { SealedFor, SealingKeys } from '../../auth/sealing-keys.ts'
import type { AllowedHosts } from '../../platform/http/allowed-hosts.ts'
import { askWhole } from '../../platform/http/ask-whole.ts'
import { parseJson } from '../../platform/http/json.ts'
import { faultOf, type Outgoing, Unreachable } from '../../platform/http/outgoing.ts'
import { signedHeaders } from '../../platform/http/signed-messages.ts'
import { createPlaces, type Places } from '../../platform/places.ts'
import { inBatches } from '../../platform/remembered.ts'
import type { Clock } from '../../platform/time.ts'
import type { PluginHook } from '../../schemas/plugin-words.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'
import type { Checked } from '../../schemas/validate.ts'

/** A plugin that can be called. */
export type CalledPlugin = {
  plugin_id: string
  name: string
  url: string
  hooks: readonly PluginHook[]
  mode: 'fail_open' | 'fail_closed'
  timeout_ms: number
  sealed: string
  former: string | null
  set_at: Date
}

export type PluginCall = {
  hook: PluginHook
  /** Its subject in the list of calls: a run, a project, a deployment. */
  subject: string
  data: Record<string, unknown>
  /** The same at every attempt, so that the plugin can drop repeats. Absent: a new one. */
  id?: string
  /** Whether a plugin that has just failed several times is called nevertheless. */
  isInsisting?: boolean
  signal?: AbortSignal
}

/** `status`: of HTTP; null without an answer. */
export type Called<T> = { ms: number; status: number | null } & (
  | { ok: true; answer: T }
  | { ok: false; error: string }
)

/** Calls plugins, never inside a transaction. */
export type PluginCalls = {
  /** Plugins that are switched on and serve one of these hooks, by name. */
  serving(...hooks: PluginHook[]): Promise<CalledPlugin[]>
  /** Does not throw because of the plugin. `expected`: the schema of its answer; null: every 2xx will do. */
  call<T>(plugin: CalledPlugin, call: PluginCall, expected: Expected<T> | null): Promise<Called<T>>
  /** The fault of a plugin's address; null: none. */
  faultOf(url: URL): string | null
  /** Also one that is switched off; null: there is none. */
  find(name: string): Promise<CalledPlugin | null>
}

export type Expected<T> = {
  check: (value: unknown) => Checked<T>
  /** Whether the answer counts as a refusal in the list of calls. */
  refuses?: (answer: T) => boolean
}

type Needed = {
  pool: Pool
  sealing: SealingKeys
  outgoing: Outgoing
  allowed: AllowedHosts
  now: Clock
  newId: (prefix: string) => string
  logger: Pick<Logger, 'warn'>
}

const maxAnswerBytes = 256 * 1024
/** Calls of one plugin at once, from one process; others wait within their time. */
const mostAtOnce = 32
/** After so many failures in a row, a plugin is not called for a while, so that nobody waits for it. */
const patience = { failures: 5, restMs: 30_000 }

type Health = { failures: number; restsUntil: number; places: Places }

export const sealedForPlugin = (plugin_id: string): SealedFor => ({
  purpose: 'forge plugin',
  owner: plugin_id,
})

const calledColumns = `plugin_id, name, url, hooks, mode, timeout_ms, sealed, set_at,
  case when former_until > now() then former end as former`

export function openPluginCalls(deps: Needed): PluginCalls {
  const healths = new Map<string, Health>()
  const find = inBatches(async keys => {
    const all = await readPlugins(deps.pool)
    return new Map(keys.map(key => [key, all]))
  })
  return {
    faultOf: url => faultOf(url, deps.allowed),
    async find(name) {
      const { rows } = await deps.pool.query<CalledPlugin>(
        `select ${calledColumns} from write.plugin where name = $1`,
        [name],
      )
      return rows[0] ?? null
    },
    async serving(...hooks) {
      const all = (await find('all')) ?? []
      return all.filter(plugin => plugin.hooks.some(hook => hooks.includes(hook)))
    },
    async call(plugin, call, expected) {
      const health = healthOf(healths, plugin)
      const rests = restOf(health, call, performance.now())
      if (rests !== null) return { ok: false, ms: 0, status: null, error: rests }
      const began = performance.now()
      const asked = await ask(deps, plugin, { ...call, places: health.places })
      const called = understood(asked, expected, Math.round(performance.now() - began))
      noteHealth(health, called.ok, performance.now())
      const isRefused = called.ok && (expected?.refuses?.(called.answer) ?? false)
      await record(deps, plugin, call, called, isRefused)
      return called
    },
  }
}

async function readPlugins(pool: Pool): Promise<CalledPlugin[]> {
  const { rows } = await pool.query<CalledPlugin>({
    name: 'plugins_to_call',
    text: `select ${calledColumns} from write.plugin where enabled order by name`,
  })
  return rows
}

/** A change of the plugin resets it. */
function healthOf(healths: Map<string, Health>, { plugin_id, set_at }: CalledPlugin): Health {
  const key = `${plugin_id} ${set_at.getTime()}`
  const known = healths.get(key)
  if (known) return known
  for (const old of healths.keys()) if (old.startsWith(`${plugin_id} `)) healths.delete(old)
  const health = { failures: 0, restsUntil: 0, places: createPlaces(mostAtOnce) }
  healths.set(key, health)
  return health
}

/** Why it is not called now. One call at a time finds out whether it is back. */
function restOf(health: Health, { isInsisting = false }: PluginCall, nowMs: number): string | null {
  if (isInsisting || health.failures < patience.failures) return null
  if (nowMs < health.restsUntil)
    return `it failed ${health.failures} times in a row and is not called for ${patience.restMs / 1000} s`
  health.restsUntil = nowMs + patience.restMs
  return null
}

function noteHealth(health: Health, isWell: boolean, nowMs: number): void {
  health.failures = isWell ? 0 : health.failures + 1
  if (health.failures >= patience.failures) health.restsUntil = nowMs + patience.restMs
}

type Asked = { status: number; body: Buffer } | { error: string }

async function ask(
  { sealing, outgoing, now, newId }: Needed,
  plugin: CalledPlugin,
  { hook, data, id = newId('msg'), signal, places }: PluginCall & { places: Places },
): Promise<Asked> {
  const late = AbortSignal.timeout(plugin.timeout_ms)
  const giveBack = await places.take(late).catch(() => null)
  if (giveBack === null) return { error: `${mostAtOnce} calls are already under way` }
  try {
    const secrets = await secretsOf(sealing, plugin)
    const at = now()
    const body = JSON.stringify({ type: hook, timestamp: toTimestamp(at), data })
    return await askWhole(outgoing, new URL(plugin.url), {
      method: 'POST',
      headers: signedHeaders({ id, at, body }, secrets),
      body,
      timeoutMs: plugin.timeout_ms,
      maxBytes: maxAnswerBytes,
      signal: signal ? AbortSignal.any([late, signal]) : late,
    })
  } catch (error) {
    if (late.aborted) return { error: `no answer within ${plugin.timeout_ms / 1000} s` }
    if (signal?.aborted) return { error: 'this server was stopped meanwhile' }
    if (!(error instanceof Unreachable)) throw error
    return { error: error.message.slice(0, maxErrorLength) }
  } finally {
    giveBack()
  }
}

const maxErrorLength = 300

async function secretsOf(
  sealing: SealingKeys,
  { plugin_id, name, sealed, former }: CalledPlugin,
): Promise<string[]> {
  const what = sealedForPlugin(plugin_id)
  const [current, old] = await Promise.all([
    sealing.open(sealed, what),
    former === null ? null : sealing.open(former, what),
  ])
  if (current === null)
    throw new Unreachable(
      `the secret of ${name} was sealed with a key that this server does not have; give it a new one`,
    )
  return old === null ? [current] : [current, old]
}

function understood<T>(asked: Asked, expected: Expected<T> | null, ms: number): Called<T> {
  if ('error' in asked) return { ok: false, ms, status: null, error: asked.error }
  const { status, body } = asked
  const failed = (error: string) => ({ ok: false, ms, status, error }) as const
  if (status >= 300 && status < 400) return failed(`it redirects (status ${status})`)
  if (status < 200 || status > 299) return failed(`it answered with status ${status}`)
  if (expected === null) return { ok: true, ms, status, answer: null as T }
  const value = jsonIn(body)
  if (value === undefined) return failed('its answer is not JSON')
  const checked = expected.check(value)
  if (checked.ok) return { ok: true, ms, status, answer: checked.value }
  const [fault] = checked.errors
  return failed(`its answer has another shape: ${fault?.loc.slice(1).join('.')}: ${fault?.msg}`)
}

function jsonIn(body: Buffer): unknown {
  try {
    return parseJson(body.toString('utf8'))
  } catch {
    return undefined
  }
}

async function record(
  { pool, now, logger }: Needed,
  { plugin_id, name }: CalledPlugin,
  { hook, subject }: PluginCall,
  called: Called<unknown>,
  isRefused: boolean,
): Promise<void> {
  const { ok, ms, status } = called
  const outcome = ok ? (isRefused ? 'refused' : 'answered') : 'failed'
  const error = called.ok ? null : called.error
  await pool
    .query({
      name: 'plugin_called',
      text: `insert into write.plugin_call (plugin_id, hook, subject, at, ms, outcome, status, error)
             values ($1, $2, $3, $4, $5, $6, $7, $8)`,
      values: [plugin_id, hook, subject, now(), ms, outcome, status, error],
    })
    .catch(failure => logger.warn({ err: failure, plugin: name }, 'a call was not recorded'))
}
