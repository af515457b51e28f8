import { type Route, route } from '../../auth/route.ts'
import { type DiagnosisRequested, diagnosesOf } from '../../events/diagnoses.ts'
import { Refusal } from '../../platform/refusal.ts'
import { diagnoseInput, diagnoseReply } from '../../schemas/diagnoses.ts'
import { commit } from '../commit/commit.ts'
import type { Deps } from '../deps.ts'
import { runToActOn } from '../rules/run-to-act-on.ts'
import { requestDiagnosis } from './decide.ts'
import { newDiagnosisId, subjectOf } from './request.ts'

export const diagnosisRoutes = (deps: Deps): Route[] => [
  route({
    method: 'POST',
    path: '/api/job/diagnose',
    credential: 'person',
    reach: 'its_people',
    tag: 'diagnoses',
    summary:
      'Find out why a job failed or makes no progress; `job_id` may also name a run without a job',
    body: diagnoseInput,
    response: diagnoseReply,
    refusals: ['not_found'],
    async handle(request) {
      const { caller, body } = request
      const asked = body.job_id
      // It changes nothing about the run, so every reader of the run may ask.
      const { run_id } = await runToActOn(deps.pool, {
        asked,
        caller,
        action: 'read',
        noun: 'run',
      })
      const subject = await subjectOf(deps.pool, run_id)
      if (subject === null) throw new Refusal('not_found', `No such run: ${asked}`)
      const wanted: DiagnosisRequested = {
        ...subject,
        diagnosis_id: await newDiagnosisId(deps.pool),
        trigger: 'manual',
        requested_by: caller.username,
      }
      const { state } = await commit(deps, request, diagnosesOf(run_id), {
        decide: (diagnosed, now) => requestDiagnosis(diagnosed, wanted, now),
      })
      return {
        diagnosis_id: state.newest?.diagnosis_id ?? wanted.diagnosis_id,
        status: 'pending' as const,
      }
    },
  }),
]
