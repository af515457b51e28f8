import { type JobSpec, jobSpec } from '../../schemas/jobs/jobspec.ts'
import { mergePatch } from '../../schemas/merge-patch.ts'
import { checker } from '../../schemas/validate.ts'

const check = checker(jobSpec, 'body')

/** Whether the spec is still a JobSpec after this patch. */
export const isAccepted = (spec: JobSpec | null, patch: Record<string, unknown>): boolean =>
  spec !== null && check(structuredClone(mergePatch(spec, patch))).ok
