export type Check = { ok: boolean } & Record<string, unknown>

export type Readiness = {
  status: 'ready' | 'not_ready' | 'draining'
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
    status: entries.every(([, check]) => check.ok) ? 'ready' : 'not_ready',
    checks: Object.fromEntries(entries),
  }
}

async function guarded(check: () => Promise<Check>): Promise<Check> {
  let timer: NodeJS.Timeout | undefined
  const silence = new Promise<Check>(resolve => {
    timer = setTimeout(() => resolve({ ok: false, error: 'no response' }), checkTimeoutMs)
  })
  try {
    return await Promise.race([check(), silence])
  } catch (error) {
    return { ok: false, error: error instanceof Error ? error.message : String(error) }
  } finally {
    clearTimeout(timer)
  }
}
