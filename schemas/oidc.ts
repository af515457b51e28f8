import { Type } from 'typebox'
import { closed } from './shared.ts'

/** `return_to`: a path of this server. `prompt`: asks who it is, also whom the provider still knows. */
export const oidcLoginQuery = closed({
  return_to: Type.Optional(Type.String({ maxLength: 2048 })),
  prompt: Type.Optional(Type.Literal('login')),
})

/** What the provider adds beside is its own affair. */
export const oidcAnswerQuery = Type.Object({
  state: Type.Optional(Type.String({ maxLength: 512 })),
})
