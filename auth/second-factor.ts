import { Refusal } from '../platform/refusal.ts'
import { type OidcConfig, oidcOf } from './oidc-settings.ts'

/** Who must have a second factor in order to use Forge: nobody, administrators, or everybody. */
export const secondFactorPolicies = ['optional', 'administrators', 'everybody'] as const
export type SecondFactorPolicy = (typeof secondFactorPolicies)[number]

/** With an identity provider nobody signs in with a password; the provider asks for second factors. */
export const secondFactorPolicy = (
  config: OidcConfig & { secondFactor: SecondFactorPolicy },
): SecondFactorPolicy => (oidcOf(config) ? 'optional' : config.secondFactor)

export type FactorState = {
  role: 'admin' | 'operator'
  has_password: boolean
  has_second_factor: boolean
}

export const requiresFactor = (policy: SecondFactorPolicy, role: FactorState['role']): boolean =>
  policy === 'everybody' || (policy === 'administrators' && role === 'admin')

/** Whether a person may only set up a second factor: a passkey, or an authenticator. */
export const mustSetUp = (policy: SecondFactorPolicy, person: FactorState): boolean =>
  requiresFactor(policy, person.role) && person.has_password && !person.has_second_factor

export const setUpFirst = (consoleUrl: string): Refusal =>
  new Refusal(
    'forbidden',
    'This installation requires a second factor, and you have none yet; set one up first',
    {
      code: 'second_factor.set_up',
      hint: `${consoleUrl}/settings, or forge account totp set-up`,
    },
  )

/** Somebody passed the generated password on, and knows it. */
export const changePasswordFirst = (consoleUrl: string): Refusal =>
  new Refusal(
    'forbidden',
    'Your password was generated for you; replace it with one that only you know first',
    { code: 'password.generated', hint: `forge passwd, or ${consoleUrl}` },
  )
