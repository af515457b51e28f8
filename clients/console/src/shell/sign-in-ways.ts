import { useQuery } from '@tanstack/react-query'
import type { Static } from 'typebox'
import type { signInConfig } from '../../../../schemas/sessions.ts'
import { basePath } from '../session/base-path.ts'

export const signInKey = 'sign-in'

export type Ways = Static<typeof signInConfig>

/** Reads the settings for signing in; the route needs no token. */
async function configOf(): Promise<Ways> {
  const response = await fetch(`${basePath}/api/auth/config`)
  if (!response.ok) throw new Error(`The server returned ${response.status}`)
  return (await response.json()) as Ways
}

export const useWaysToSignIn = () =>
  useQuery({ queryKey: [signInKey], queryFn: configOf, retry: true })
