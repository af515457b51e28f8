import type { Pool } from 'pg'

/** The deployment and revision whose engines respond in a session; null: the promoted revision. */
export type OpenSession = { deployment_id: string; revision_id: string | null }

export type PlaygroundDeps = {
  pool: Pool
  /** The name of the person whose access token this is; null if it is not a valid one. */
  personOf: (token: string) => Promise<string | null>
}

export type Playground = {
  /** The session that the token opens; to other people the session looks missing. */
  enter(session_id: string, token: string): Promise<OpenSession | 'no person' | 'no session'>
}

/** The precision of the last use, in seconds: no request writes if another has just done so. */
const usedEveryS = 10

export const isSession = (id: string): boolean => id.startsWith('pls_')

/** Sessions are few and short, so each request asks the database, and an end applies at once. */
export const openPlayground = ({ pool, personOf }: PlaygroundDeps): Playground => ({
  async enter(session_id, token) {
    const username = await personOf(token)
    if (username === null) return 'no person'
    const { rows } = await pool.query<OpenSession & { isStale: boolean }>({
      name: 'enter_playground',
      text: `select deployment_id, revision_id,
                    last_used_at < now() - make_interval(secs => ${usedEveryS}) as "isStale"
               from write.playground_session
              where session_id = $1 and username = $2 and ended_at is null and expires_at > now()`,
      values: [session_id, username],
    })
    const [row] = rows
    if (!row) return 'no session'
    const { isStale, ...session } = row
    if (isStale)
      await pool.query(
        'update write.playground_session set last_used_at = now() where session_id = $1 and ended_at is null',
        [session_id],
      )
    return session
  },
})
