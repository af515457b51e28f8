import { withoutOwner } from './missing-id.ts'
import type { Sample, SampleServer } from './sample.ts'
import type { Call } from './send.ts'

type Target = { upload_id: string; url: string }

const content = { said: 'by a test' }
const size_bytes = Buffer.byteLength(JSON.stringify(content))
const announced: Call = {
  method: 'POST',
  path: '/api/uploads',
  body: { purpose: 'dataset', filename: 'a.json', size_bytes, content_type: 'application/json' },
}

/** An upload without any bytes sent. */
export const uploadSample: Sample = {
  slice: 'uploads',
  things: { upload: 'select upload_id, null, null, owner, null, null, false from write.upload' },
  async make({ ask }) {
    const { upload_id } = await ask<Target>(announced)
    return { nouns: { uploads: { upload_id } } }
  },
  missing: ({ nouns }) => ({
    nouns: { uploads: { upload_id: withoutOwner(nouns.uploads?.upload_id) } },
  }),
  hidden: ['uploads'],
  changes: {
    'PUT /api/uploads/{upload_id}': {
      body: () => content,
      path: async server => pathOf(await newUpload(server)),
      leavesNoEvent: 'bytes count once they are registered',
    },
    'POST /api/uploads/{upload_id}/parts': {
      async path(server) {
        const target = await newUpload(server)
        await server.send({ method: 'PUT', path: pathOf(target), body: content })
        return pathOf(target).replace('?', '/parts?')
      },
      leavesNoEvent: 'bytes count once they are registered',
    },
    'POST /api/uploads/{upload_id}/complete': {
      async path(server) {
        const target = await newUpload(server)
        await server.send({ method: 'PUT', path: pathOf(target), body: content })
        return `/api/uploads/${target.upload_id}/complete`
      },
    },
  },
}

async function newUpload({ send, credentials }: SampleServer): Promise<Target> {
  return JSON.parse((await send({ ...announced, headers: credentials.operator })).text)
}

function pathOf({ url }: Target): string {
  const { pathname, search } = new URL(url)
  return `${pathname}${search}`
}
