import type { Context } from 'koa'

/**
 * Who may call a route (specification, "Authentication"). `person`: an access token; `admin`: one whose
 * role is admin; `ingest`: a run's ingest token; `session`: a live access token, or else a refresh cookie,
 * which the handler looks up; `refresh`: the refresh cookie, looked up by the handler likewise; `metrics`:
 * an admin or the scraper's token; `none`: anybody.
 */
export type Credential = 'none' | 'person' | 'admin' | 'ingest' | 'session' | 'refresh' | 'metrics'

export type Person = {
  kind: 'person'
  username: string
  role: 'admin' | 'operator'
  /** The session the access token belongs to. */
  sid: string
  /** How the session began: `password`, `device`, `oidc`. */
  via: string
  issuedAt: Date
  expiresAt: Date
}
export type RunCaller = { kind: 'run'; runId: string; tokenId: string }
export type Anybody = { kind: 'anybody' }
export type Caller = Person | RunCaller | Anybody

export type CallerOf<C extends Credential> = C extends 'person' | 'admin'
  ? Person
  : C extends 'ingest'
    ? RunCaller
    : C extends 'session'
      ? Person | Anybody
      : Anybody

/**
 * To whom the thing that a person's request names exists; to everybody else it is, byte for byte, as if there were no
 * such thing. `all`: everybody who may call. `its_people`: its owner, whom the owner let in, and admins. `its_owner`:
 * those see it, but only its owner may do this (403). `self`: the one person, not even admins. `taken`: a name that
 * the request makes its own; one that others have is 403, for names are no secret.
 */
export type Reach = 'all' | 'its_people' | 'its_owner' | 'self' | 'taken'

/** Returns who calls, or throws `unauthenticated` or `forbidden`. */
export type Authenticate = (ctx: Context, credential: Credential) => Promise<Caller>
