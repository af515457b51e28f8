import { randomUUID } from 'node:crypto'
import type { Launch } from '../port.ts'
import type { LaunchRecord } from './attempt-directory.ts'
import { identify } from './process-identity.ts'

/** The record of a launch that this process submits; `preparation` is the command that prepares it on this machine. */
export function toLaunchRecord(
  { launch, preparation }: { launch: Launch; preparation: string[] | null },
  now: Date,
): LaunchRecord {
  const submitter = identify(process.pid)
  if (!submitter) throw new Error('the local executor needs /proc')
  const { run_id, attempt, fencing_token, nodes, gpu_indexes, command } = launch
  return {
    run_id,
    attempt,
    fencing_token,
    nodes,
    gpu_indexes,
    command,
    preparation,
    mark: `${run_id}/${attempt}/${randomUUID()}`,
    submitted_at: now.toISOString(),
    submitter,
  }
}
