import type { Static } from 'typebox'
import type * as of from '../../../../../schemas/deployments/deployments.ts'

export type Deployment = Static<typeof of.deployment>
export type Revision = Static<typeof of.revision>
export type Promotion = Static<typeof of.promotion>
export type Token = Static<typeof of.token>
export type TokenCreated = Static<typeof of.tokenCreated>

export const pathOf = (id: string): string => `/api/deployments/${encodeURIComponent(id)}`
