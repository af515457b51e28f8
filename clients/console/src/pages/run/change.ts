import type { RunChange, RunChangeReply } from '../../../../../schemas/runs/runs.ts'
import { request } from '../../session/session.ts'
import { pathOfRun } from './use-run.ts'

/** Changes a run, with or without a job; resolves with what the server confirmed. */
export const changeRun = (runId: string, change: RunChange): Promise<RunChangeReply> =>
  request<RunChangeReply>('PATCH', pathOfRun(runId), { body: change })
