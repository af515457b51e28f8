import type { Forge } from '../servers/forge.ts'
import { type ExternalRun, ingest } from '../servers/runs.ts'

/** A run whose name is no markup, and a function that reports for it. */
export async function createNamed(forge: Forge) {
  const { body: run } = await forge.call<ExternalRun>('POST', '/api/runs', {
    body: { project: 'demo', name: 'two <b>lines</b>' },
  })
  return { run, report: (route: string, body: object) => ingest(forge, run, route, body) }
}
