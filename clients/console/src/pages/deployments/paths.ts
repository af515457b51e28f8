import type { Static } from 'typebox'
import type * as of from '../../../../../schemas/deployments/deployments.ts'
import type { token, tokenCreated } from '../../../../../schemas/deployments/tokens.ts'

export type Deployment = Static<typeof of.deployment>
export type Revision = Static<typeof of.revision>
export type Promotion = Static<typeof of.promotion>
export type Token = Static<typeof token>
export type TokenCreated = Static<typeof tokenCreated>

export const pathOf = (id: string): string => `/api/deployments/${encodeURIComponent(id)}`
