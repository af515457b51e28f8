import type { Forge } from './forge.ts'

export type ExternalRun = { run_id: string; short_id: string; token: string }

/** A run without a job, reporting with its own token. */
export async function createRun(
  forge: Pick<Forge, 'call'>,
  project = 'demo',
): Promise<ExternalRun> {
  const { body } = await forge.call<ExternalRun>('POST', '/api/runs', { body: { project } })
  return body
}

export async function ingest(
  forge: Pick<Forge, 'call'>,
  run: ExternalRun,
  route: string,
  body: object,
): Promise<Record<string, unknown>> {
  const answer = await forge.call('POST', `/api/ingest/${route}`, {
    token: run.token,
    body: { run_id: run.run_id, ...body },
  })
  if (answer.status !== 200)
    throw new Error(`${route} answered ${answer.status} ${JSON.stringify(answer.body)}`)
  return answer.body
}
