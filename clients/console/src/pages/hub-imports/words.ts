import { wordsOf } from '../../words/words.ts'

export const words = wordsOf({
  title: ['Model hub', '模型中心'],
  about: [
    'Models of the hub, kept here at one commit. A job that names one in spec.model.ref reads it from the folder FORGE_MODEL.',
    '从模型中心导入、固定在某次提交的模型。任务在 spec.model.ref 中写明后，可从 FORGE_MODEL 所指的目录读取。',
  ],
  none: [
    'No imports yet. Import a model above, or from the command line:',
    '还没有导入。请在上方导入模型，或使用命令行：',
  ],
  reference: ['Model', '模型'],
  hint: [
    'With @ and a branch, tag or commit if it is not main. For a gated model, set the secret HF_TOKEN in your settings first.',
    '如非 main，请用 @ 附上分支、标签或提交。受限模型请先在设置中添加机密 HF_TOKEN。',
  ],
  start: ['Import', '导入'],
  state: ['State', '状态'],
  resolving: ['reading the list of files', '读取文件列表'],
  downloading: ['downloading', '下载中'],
  done: ['Progress', '进度'],
  of: [
    (done: string, all: string) => `${done} of ${all}`,
    (done: string, all: string) => `${done} / ${all}`,
  ],
  license: ['License', '许可证'],
  gated: ['gated', '受限'],
  files: ['Files', '文件数'],
  by: ['By', '导入者'],
  created: ['Requested', '请求于'],
  commit: ['Commit', '提交'],
  cancel: ['Stop', '停止'],
  cancelOne: [(ref: string) => `Stop the import of ${ref}`, (ref: string) => `停止导入 ${ref}`],
  remove: ['Delete', '删除'],
  removeOne: [(ref: string) => `Delete ${ref}`, (ref: string) => `删除 ${ref}`],
  again: ['Try again', '重试'],
  againOne: [(ref: string) => `Try again to import ${ref}`, (ref: string) => `重试导入 ${ref}`],
  effect: [
    'Jobs that have not ended keep it from being deleted. Later jobs would import it again.',
    '尚未结束的任务会阻止删除；之后的任务需要重新导入。',
  ],
})
