import type { Context } from 'koa'

/**
 * Who may call a route (specification, "Authentication"). `person`: an access token; `admin`: an access token of an
 * admin; `ingest`: a run's ingest token; `session`: a live access token, or else a refresh cookie, which the
 * handler looks up; `refresh`: the refresh cookie, also looked up by the handler; `metrics`: an admin or the
 * scraper's token; `none`: anybody.
 */
export type Credential = 'none' | 'person' | 'admin' | 'ingest' | 'session' | 'refresh' | 'metrics'

export type Person = {
  kind: 'person'
  username: string
  role: 'admin' | 'operator'
  /** The session of the access token. */
  sid: string
  /** How the session was started: `password`, `device`, `oidc`. */
  via: string
  issuedAt: Date
  expiresAt: Date
}
/** The person on whose behalf a job is submitted. */
export type Submitter = Pick<Person, 'kind' | 'username' | 'role' | 'via'>
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
 * Who may see the resource that a request names. Everybody else gets, byte for byte, the response for a missing
 * resource. `all`: every permitted caller. `its_people`: its owner, people the owner gave access, and admins.
 * `its_owner`: visible to the same people, but only its owner may do this (403). `self`: one person only, not even
 * admins. `taken`: the request claims the name; other people's names are refused with 403, because names are not
 * secret. `own_name`: the request claims a name of the caller's own, and the same name of another person is another thing.
 */
export type Reach = 'all' | 'its_people' | 'its_owner' | 'self' | 'taken' | 'own_name'

/** `whileLimited`: also people who first have to replace a generated password, to set up a second factor, or either. */
export type Permitted = { whileLimited?: 'password' | 'factor' | 'either' }

/** What a route demands of its caller. */
export type Demand = Permitted & {
  credential: Credential
  /** For what does lasting harm: the person must have proved who they are in the last 15 minutes. */
  recentSignIn?: true
}

/** Returns the caller, or throws `unauthenticated` or `forbidden`. */
export type Authenticate = (ctx: Context, demand: Demand) => Promise<Caller>
