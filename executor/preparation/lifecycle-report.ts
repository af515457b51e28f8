type PhaseReport = {
  event: 'starting' | 'failed'
  attempt: number
  phase?: string
  exit_code?: number
  message?: string
}

const patienceMs = 3000

/**
 * Reports the run's phase to the server with the run's own token (specification, "Ingest"). Best effort: the
 * executor's observation decides, so an unreachable server only delays the displayed phase.
 */
export async function reportLifecycle(env: NodeJS.ProcessEnv, report: PhaseReport): Promise<void> {
  const { SERVICE_ENABLED, SERVICE_ENDPOINT, SERVICE_RUN_ID, SERVICE_TOKEN } = env
  if (SERVICE_ENABLED !== '1' || !SERVICE_ENDPOINT || !SERVICE_RUN_ID || !SERVICE_TOKEN) return
  const ts = `${new Date().toISOString().slice(0, -1)}+00:00`
  try {
    const answer = await fetch(`${SERVICE_ENDPOINT}/lifecycle`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-service-token': SERVICE_TOKEN },
      body: JSON.stringify({ run_id: SERVICE_RUN_ID, ts, ...report }),
      signal: AbortSignal.timeout(patienceMs),
    })
    await answer.body?.cancel()
  } catch {
    // Best effort; see above.
  }
}
