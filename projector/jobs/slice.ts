import { decisions } from '../decisions.ts'
import type { Slice } from '../slice.ts'
import { jobProjection, newJobs } from './projection.ts'

export const jobs: Slice = { name: 'jobs', decisions: decisions(jobProjection, newJobs) }
