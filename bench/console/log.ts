import type { Client } from 'pg'
import { askApi } from '../../test/servers/api.ts'
import { until } from '../../test/servers/until.ts'
import type { Target } from '../chart.ts'
import type { ExternalRun } from '../rig/api.ts'

const requestBytes = 900_000
/** The most a run may report within an hour, less its last request. */
const reportedBytes = 100_000_000
export const logCopies = 11

/** A line that occurs once in each copy. */
export const rare = 'a rare warning'

/**
 * A log of 1.1 GB: 100 MB as training prints them are reported, and the rows that the projection made are repeated,
 * because no run may report as much within ten hours.
 */
export async function fillLog({ url, token }: Target, run: ExternalRun, client: Client) {
  let step = 0
  const line = () => {
    step++
    const loss = (2 / Math.sqrt(step)).toFixed(6)
    const rest = `tokens/s=${41_000 + ((step * 7919) % 3000)} grad_norm=${((step * 31) % 997) / 997}`
    return `step ${step} loss=${loss} lr=${(3e-4 / (1 + step / 1e6)).toExponential(4)} ${rest}`
  }
  const report = (chunks: string[]) =>
    askApi(url, 'POST', '/api/ingest/logs', {
      token: run.token,
      body: { run_id: run.run_id, node: 'n0', rank: 0, stream: 'stdout', chunks },
    })
  for (let sent = 0; sent < reportedBytes; sent += requestBytes) {
    const lines = sent === 0 ? [rare] : []
    for (let bytes = 0; bytes < requestBytes; bytes += (lines.at(-1)?.length ?? 0) + 1)
      lines.push(line())
    await report([lines.join('\n')])
  }
  await until('the whole log can be read', 600_000, async () => {
    const path = `/api/runs/${run.run_id}/logs?before=${Number.MAX_SAFE_INTEGER}&limit=1`
    const lines = await askApi<{ text: string }[]>(url, 'GET', path, { token })
    return lines.at(-1)?.text.startsWith(`step ${step} `) ?? false
  })
  await client.query(
    `insert into read.log_chunks (run_id, first_seq, body)
     select run_id, first_seq + copy * (select next_seq - 1 from read.log_runs r where r.run_id = c.run_id), body
       from read.log_chunks c, generate_series(1, ${logCopies - 1}) copy where run_id = $1`,
    [run.run_id],
  )
  await client.query(
    `update read.log_runs set next_seq = (next_seq - 1) * ${logCopies} + 1, bytes = bytes * ${logCopies} where run_id = $1`,
    [run.run_id],
  )
}
