import type { Asking } from '../../rules/access.ts'

export type JudgeDeployment = {
  deployment_id: string
  /** The promoted revision. */
  revision_id: string
  /** The name under which the engine serves its model. */
  model: string
  /** The address of its inference. */
  url: string
}

/** Finds a deployment that the person may use; refuses any other. */
export type FindJudge = (caller: Asking, asked: string) => Promise<JudgeDeployment>

export type JudgePorts = { findJudge: FindJudge }
