import type { Hostile } from '../../test/whole/chaos/hostile.ts'
import { brokenConnection, codeOf } from './submit.ts'

export type Repelled = {
  /** The status, or the error code of the connection. */
  answer: string
  /** Whether the request was neither refused as it should be, nor met a kill. */
  unexpected: boolean
}

/** In milliseconds, as for the requests of the load. */
const patienceMs = 30_000

/** Sends a request that must be refused. */
export async function attack(url: string, request: Hostile): Promise<Repelled> {
  const { method, path, headers, body, refused } = request
  try {
    const response = await fetch(`${url}${path}`, {
      method,
      headers,
      body,
      signal: AbortSignal.timeout(patienceMs),
    })
    await response.body?.cancel()
    const { status } = response
    return { answer: String(status), unexpected: status !== 503 && !refused.includes(status) }
  } catch (error) {
    const answer = codeOf(error)
    return { answer, unexpected: answer !== 'ECONNREFUSED' && !brokenConnection.has(answer) }
  }
}
