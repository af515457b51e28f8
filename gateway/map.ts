import type { Pool } from 'pg'
import { opaqueTokenId, sameHash, sha256 } from '../auth/opaque-token.ts'

export type Replica = {
  replica_id: string
  revision_id: string
  /** Ends before `/v1`; `parseAddress` reads it. */
  base_url: string
  header_name: string | null
  header_sealed: Buffer | null
}
export type Deployment = {
  deployment_id: string
  state: 'serving' | 'suspended' | 'deleted'
  /** The promoted one; null before the first promotion. */
  revision_id: string | null
  max_body_bytes: number
  timeout_s: number
  max_concurrency: number
  allowed_origins: readonly string[]
}
type Token = {
  token_id: string
  deployment_id: string
  secret_sha256: Buffer
  isRevoked: boolean
  captures: boolean
}
type WithEpoch = { epoch: number }

/**
 * This gateway's knowledge of deployments, their engines and their tokens. Rows carry the epoch of their last change, and epochs
 * commit in their order, so that comparing numbers finds all that changed (the migration of `serving_epoch`).
 */
export class ServingMap {
  readonly #pool: Pool
  readonly #deployments = new Map<string, Deployment>()
  /** The engines of each revision that respond. */
  readonly #replicas = new Map<string, Map<string, Replica>>()
  readonly #tokens = new Map<string, Token>()
  #epoch = -1
  /** Callers that wait for the next read, and whether a read is under way. */
  #next: Promise<void> | null = null
  #current: Promise<void> | null = null

  constructor(pool: Pool) {
    this.#pool = pool
  }

  /**
   * Resolves once the map includes everything committed before the call. Calls that arrive during a read share the next one,
   * because the current read may have started too early for them.
   */
  fresh(): Promise<void> {
    if (!this.#current) return this.#begin()
    this.#next ??= this.#current.then(
      () => this.#begin(),
      () => this.#begin(),
    )
    return this.#next
  }

  #begin(): Promise<void> {
    this.#next = null
    // Never two at once: the older one could end last, and bring back what the newer one found gone.
    this.#current = this.#read().finally(() => {
      if (!this.#next) this.#current = null
    })
    return this.#current
  }

  async #read(): Promise<void> {
    const { rows } = await this.#pool.query<WithEpoch>({
      name: 'serving_epoch',
      text: 'select epoch from write.serving_epoch',
    })
    const epoch = rows[0]?.epoch ?? 0
    // A restored database is behind; the state that this gateway knew may not exist in it.
    if (epoch < this.#epoch) this.#forget()
    if (epoch !== this.#epoch) await this.#load(epoch)
  }

  #forget(): void {
    this.#epoch = -1
    for (const known of [this.#deployments, this.#replicas, this.#tokens]) known.clear()
  }

  async #load(epoch: number): Promise<void> {
    const since = [this.#epoch]
    const { rows: deployments } = await this.#pool.query<Deployment>({
      name: 'changed_deployments',
      text: `select deployment_id, state, revision_id, max_body_bytes, timeout_s, max_concurrency, allowed_origins
               from write.deployment_route where epoch > $1`,
      values: since,
    })
    const { rows: replicas } = await this.#pool.query<Replica & { is_ready: boolean }>({
      name: 'changed_replicas',
      text: `select replica_id, revision_id, base_url, header_name, header_sealed, is_ready
               from write.replica_route where epoch > $1`,
      values: since,
    })
    const { rows: tokens } = await this.#pool.query<Token>({
      name: 'changed_tokens',
      text: `select token_id, deployment_id, secret_sha256, revoked_at is not null as "isRevoked", captures
               from auth.deployment_token where epoch > $1`,
      values: since,
    })
    for (const row of deployments) this.#deployments.set(row.deployment_id, row)
    for (const { is_ready, ...row } of replicas) this.#setReplica(row, is_ready)
    for (const row of tokens) this.#tokens.set(row.token_id, row)
    this.#epoch = epoch
  }

  #setReplica(replica: Replica, isReady: boolean): void {
    const others = this.#replicas.get(replica.revision_id) ?? new Map<string, Replica>()
    if (isReady) others.set(replica.replica_id, replica)
    else others.delete(replica.replica_id)
    this.#replicas.set(replica.revision_id, others)
  }

  /** Null for a deployment that does not exist, or no longer does. */
  deployment(id: string): Deployment | null {
    const known = this.#deployments.get(id)
    return known && known.state !== 'deleted' ? known : null
  }

  replicasOf(revision_id: string | null): Replica[] {
    return revision_id === null ? [] : [...(this.#replicas.get(revision_id)?.values() ?? [])]
  }

  /** The addresses of all engines that respond. */
  addresses(): Set<string> {
    const all = [...this.#replicas.values()].flatMap(replicas => [...replicas.values()])
    return new Set(all.map(({ base_url }) => base_url))
  }

  /** The id of a token that opens this deployment; null for any other text. */
  tokenFor(deployment_id: string, text: string): string | null {
    const id = opaqueTokenId('fdt', text)
    const known = id === null ? undefined : this.#tokens.get(`dtk_${id}`)
    // Hashed in any case, so that timing reveals nothing.
    const isRight = sameHash(known?.secret_sha256 ?? noHash, sha256(text))
    return known && isRight && known.deployment_id === deployment_id && !known.isRevoked
      ? known.token_id
      : null
  }

  /** Whether requests with this token are captured. */
  captures(token_id: string): boolean {
    return this.#tokens.get(token_id)?.captures === true
  }

  /** Whether an admitted request may continue. */
  isOpen(deployment_id: string, token_id: string): boolean {
    return (
      this.deployment(deployment_id) !== null && this.#tokens.get(token_id)?.isRevoked === false
    )
  }
}

const noHash = Buffer.alloc(32)
