import { repeat } from '../../platform/repeat.ts'
import type { PluginHook } from '../../schemas/plugin-words.ts'
import type { Deps } from '../deps.ts'
import type { CalledPlugin } from '../rules/plugin-calls.ts'

type Needed = Pick<Deps, 'pool' | 'now' | 'logger' | 'plugins'>

const intervalMs = 1000
/** A process that died while it sent loses its turn after this. */
const turnMs = 30_000
/** Messages of one plugin in one turn, which ends long before others may take it. */
const mostPerTurn = 50
const sendForMs = 15_000
/** Between the attempts of a message, in seconds; after the last one it is dead. */
export const pausesS: readonly number[] = [5, 30, 120, 600, 1800, 7200, 14_400]

/** Sends the messages of plugins: each plugin gets its own in their order, at least once. */
export function startPluginSender(deps: Needed): { stop(): Promise<void> } {
  return repeat(
    async signal => {
      await sendDue(deps, signal)
      return intervalMs
    },
    {
      failed: error => deps.logger.warn({ err: error }, 'plugins were not told, will retry'),
    },
  )
}

/** One pass over all plugins whose next message is due. */
export async function sendDue(deps: Needed, signal: AbortSignal): Promise<void> {
  const due = await takeTurns(deps)
  await Promise.all(due.map(name => sendTo(deps, name, signal)))
}

/** Only one process at a time sends to a plugin, because its messages have an order. */
async function takeTurns({ pool, now }: Needed): Promise<string[]> {
  const at = now()
  const { rows } = await pool.query<{ name: string }>({
    name: 'plugins_with_messages',
    text: `update write.plugin p set sending_until = $2
            where enabled and sending_until <= $1
              and (select due_at from write.plugin_message m
                    where m.plugin_id = p.plugin_id and not m.is_dead order by nth limit 1) <= $1
           returning name`,
    values: [at, new Date(at.getTime() + turnMs)],
  })
  return rows.map(({ name }) => name)
}

async function sendTo(deps: Needed, name: string, signal: AbortSignal): Promise<void> {
  const plugin = await deps.plugins.find(name)
  if (plugin === null) return
  const until = performance.now() + sendForMs
  for (let sent = 0; sent < mostPerTurn && performance.now() < until && !signal.aborted; sent++)
    if (!(await sendNext(deps, plugin, signal))) break
  await deps.pool.query(
    `update write.plugin set sending_until = '-infinity' where plugin_id = $1`,
    [plugin.plugin_id],
  )
}

type Message = {
  nth: string
  message_id: string
  hook: PluginHook
  subject: string
  data: Record<string, unknown>
  attempts: number
}

/** Whether the next message may follow. */
async function sendNext(deps: Needed, plugin: CalledPlugin, signal: AbortSignal): Promise<boolean> {
  const { pool, now, plugins } = deps
  const { rows } = await pool.query<Message & { is_due: boolean }>(
    `select nth, message_id, hook, subject, data, attempts, due_at <= $2 as is_due
       from write.plugin_message where plugin_id = $1 and not is_dead order by nth limit 1`,
    [plugin.plugin_id, now()],
  )
  const [message] = rows
  if (!message?.is_due || signal.aborted) return false
  const { nth, message_id: id, hook, subject, data } = message
  const called = await plugins.call(
    plugin,
    { hook, subject, data, id, isInsisting: true, signal },
    null,
  )
  if (called.ok) {
    await pool.query('delete from write.plugin_message where nth = $1', [nth])
    return true
  }
  // It was not the plugin's fault.
  if (signal.aborted) return false
  return postpone(deps, message, called.error)
}

async function postpone(
  { pool, now }: Needed,
  { nth, attempts }: Message,
  error: string,
): Promise<boolean> {
  const pause = pausesS[attempts]
  const isDead = pause === undefined
  await pool.query(
    `update write.plugin_message set attempts = attempts + 1, error = $2, is_dead = $3, due_at = $4 where nth = $1`,
    [nth, error, isDead, new Date(now().getTime() + (pause ?? 0) * 1000)],
  )
  return isDead
}
