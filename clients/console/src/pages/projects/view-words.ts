import { wordsOf } from '../../words/words.ts'

/** The words of the dialog of saved views, which is loaded when it opens. */
export const viewWords = wordsOf({
  noViews: ['Nothing is saved yet.', '尚未保存任何视图。'],
  viewName: ['Name of this view', '此视图的名称'],
  forAll: ['Visible to everybody in the project', '项目中所有人可见'],
  saveView: ['Save', '保存'],
  setDefault: ['Make this the default', '设为默认'],
  replaceDefault: ['Replace the default with this', '以此替换默认'],
  close: ['Close', '关闭'],
  newName: [(name: string) => `New name of ${name}`, (name: string) => `${name} 的新名称`],
  rename: ['Rename', '重命名'],
  cancel: ['Cancel', '取消'],
  share: ['Share', '共享'],
  unshare: ['Make private', '设为私有'],
  deleteView: ['Delete', '删除'],
  replace: ['Replace', '替换'],
  taken: [
    'You already have a view with this name. Choose another one, or replace that view.',
    '您已有同名视图。请换一个名称，或替换该视图。',
  ],
  reserved: ['This is the name of the project default.', '此名称属于项目默认视图。'],
  deleteTitle: [(name: string) => `Delete the view ${name}`, (name: string) => `删除视图 ${name}`],
  deleteWhat: [
    'Addresses that were copied from it still work. The view itself cannot be restored.',
    '从中复制的地址仍然有效。视图本身无法恢复。',
  ],
  replaceTitle: [
    (name: string) => `Replace the view ${name}`,
    (name: string) => `替换视图 ${name}`,
  ],
  replaceWhat: [
    'It will show what this page shows now. What it showed before is lost.',
    '它将显示此页面当前的内容，之前的内容会丢失。',
  ],
  ofProject: ['project', '项目'],
})
