import type { Logger } from 'pino'

/**
 * `lag_ms`: how far behind a part is; if it follows nothing, how long its response took. `degraded`: it serves, but
 * needs a person's attention.
 */
export type Check = { ok: boolean; lag_ms?: number; degraded?: boolean } & Record<string, unknown>

export type Readiness = {
  status: 'ready' | 'degraded' | 'not_ready' | 'draining'
  checks: Record<string, Check>
}

/** Time limit for one part's check, in milliseconds. */
const checkTimeoutMs = 2000

/** Checks all parts at once. A check that throws or takes too long has failed, and the reason is shown. */
export async function checkAll(parts: Record<string, () => Promise<Check>>): Promise<Readiness> {
  const entries = await Promise.all(
    Object.entries(parts).map(async ([name, check]) => [name, await guarded(check)] as const),
  )
  return {
    status: statusOf(entries.map(([, check]) => check)),
    checks: Object.fromEntries(entries),
  }
}

function statusOf(checks: readonly Check[]): Readiness['status'] {
  if (!checks.every(check => check.ok)) return 'not_ready'
  return checks.some(check => check.degraded) ? 'degraded' : 'ready'
}

/**
 * The public view: whether each part works, and figures. Other texts may come from drivers, which name hosts, users
 * and paths.
 */
export const withoutDetails = ({ status, checks }: Readiness): Readiness => ({
  status,
  checks: Object.fromEntries(
    Object.entries(checks).map(([name, check]) => [
      name,
      {
        ...figuresOf(check),
        ok: check.ok,
        ...(check.degraded && { degraded: true }),
        ...(!check.ok && { error: fixedWords(check) }),
      },
    ]),
  ),
})

const figuresOf = (check: Check) =>
  Object.fromEntries(Object.entries(check).filter(([, value]) => typeof value === 'number'))

const noResponse = 'no response'
const fixedWords = ({ error }: Check) => (error === noResponse ? noResponse : 'failed')

/** Logs failing checks, with their details, whenever these change; figures such as `lag_ms` change all the time. */
export function readinessLog(logger: Logger): (readiness: Readiness) => void {
  let before = '{}'
  return ({ checks }) => {
    const failing = Object.fromEntries(Object.entries(checks).filter(([, { ok }]) => !ok))
    const now = JSON.stringify(failing, (_, value) => (typeof value === 'number' ? 0 : value))
    if (now === before) return
    before = now
    if (now === '{}') logger.info('every part is ready again')
    else logger.warn({ checks: failing }, 'a part is not ready')
  }
}

async function guarded(check: () => Promise<Check>): Promise<Check> {
  let timer: NodeJS.Timeout | undefined
  const began = performance.now()
  const lag = () => ({ lag_ms: Math.round(performance.now() - began) })
  const silence = new Promise<Check>(resolve => {
    timer = setTimeout(() => resolve({ ok: false, error: noResponse }), checkTimeoutMs)
  })
  try {
    const result = await Promise.race([check(), silence])
    return { ...lag(), ...result }
  } catch (error) {
    return { ...lag(), ok: false, error: error instanceof Error ? error.message : String(error) }
  } finally {
    clearTimeout(timer)
  }
}
