import type { Approval } from '../../events/approvals.ts'
import type { Work } from '../commit/commit.ts'

/** What decisions mean for one type of subject; everything happens in the transaction of the decision. */
export type SubjectOfApproval = {
  /** Further streams and names that the decision locks. */
  locks(approval: Approval): string[]
  /** How the subject has changed since the request; null if it has not. */
  whyChanged(work: Work, approval: Approval): Promise<string | null>
  /** Carries it out; a refusal undoes the decision. */
  approved(work: Work, approval: Approval): Promise<void>
  /** It was rejected, or nobody decided in time. */
  refused(work: Work, approval: Approval, why: string): Promise<void>
}
