import { Type } from 'typebox'
import { closed } from './shared.ts'

/** `return_to`: a path on this server. `prompt`: ask for an account even if the provider has a session. */
export const oidcLoginQuery = closed({
  return_to: Type.Optional(Type.String({ maxLength: 2048 })),
  prompt: Type.Optional(Type.Literal('login')),
})

/** Open: providers add parameters of their own. */
export const oidcAnswerQuery = Type.Object({
  state: Type.Optional(Type.String({ maxLength: 512 })),
})
