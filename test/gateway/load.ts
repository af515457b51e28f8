import { setTimeout as pause } from 'node:timers/promises'
import { Pool } from 'undici'

export type Asked = {
  /** Milliseconds of the clock that never goes back. */
  began: number
  ended: number
  /** 0: the connection broke before a status arrived. */
  status: number
  text: string
  /** Whether all of it arrived. */
  isWhole: boolean
  revision: string | null
  request_id: string | null
}

export type Load = {
  /** The responses so far. */
  asked: Asked[]
  /** Sends no further request, and waits for those under way. */
  stop(): Promise<void>
}

export type LoadOptions = {
  urls: readonly string[]
  path: string
  token: string
  /** Callers at each address. */
  callers: number
  body?: string
  /** The pause after a status other than 200. */
  pauseMs?: number
  /** The pause after a 200; otherwise the next request follows at once. */
  restMs?: number
}

/** Sends requests, with this many callers at each address, until it is stopped. */
export function load(options: LoadOptions): Load {
  const { urls, path, token, callers, body = '{}', pauseMs = 20, restMs = 0 } = options
  const asked: Asked[] = []
  let isOver = false
  const pools = urls.map(url => new Pool(url, { connections: callers }))
  const caller = async (pool: Pool) => {
    while (!isOver) {
      const one = await ask(pool, path, token, body)
      asked.push(one)
      const thenMs = one.status === 200 ? restMs : pauseMs
      if (thenMs > 0) await pause(thenMs)
    }
  }
  const all = pools.flatMap(pool => Array.from({ length: callers }, () => caller(pool)))
  return {
    asked,
    async stop() {
      isOver = true
      await Promise.all(all)
      await Promise.all(pools.map(pool => pool.close()))
    },
  }
}

async function ask(pool: Pool, path: string, token: string, body: string): Promise<Asked> {
  const began = performance.now()
  const asked = {
    ...{ began, ended: 0, status: 0, text: '', isWhole: false, revision: null, request_id: null },
  } as Asked
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  try {
    const reply = await pool.request({ method: 'POST', path, headers, body })
    asked.status = reply.statusCode
    asked.revision = headerText(reply.headers['x-forge-revision'])
    asked.request_id = headerText(reply.headers['x-request-id'])
    for await (const part of reply.body) asked.text += String(part)
    asked.isWhole = true
  } catch {
    // Cut off: `isWhole` says so.
  }
  return { ...asked, ended: performance.now() }
}

const headerText = (header: string | string[] | undefined): string | null =>
  typeof header === 'string' ? header : null
