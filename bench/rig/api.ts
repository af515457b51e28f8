import { askApi } from '../../test/servers/api.ts'

export type ExternalRun = { run_id: string; token: string }

/** Creates `count` external runs in one project, a few at a time. */
export async function createRuns(
  url: string,
  token: string,
  project: string,
  count: number,
): Promise<ExternalRun[]> {
  const runs: ExternalRun[] = []
  while (runs.length < count) {
    const few = Array.from({ length: Math.min(8, count - runs.length) }, (_, index) =>
      askApi<ExternalRun>(url, 'POST', '/api/runs', {
        token,
        body: { project, name: `${project} ${runs.length + index + 1}` },
      }),
    )
    runs.push(...(await Promise.all(few)))
  }
  return runs
}
