"""Chinese: data only. A name has two characters for the quality and two for the thing, with nothing between them."""

_ASKS_FOR = "请只回复一行，不要写其他内容，格式如下：FINAL ANSWER: <{}>"
_INSTRUCTION = "下面的文本中藏有一句或几句话，说明为某个名称保存了什么。请通读全文，最后会问到这些内容。\n\n"

NIAH = {
    "wording": {
        "instruction of one": _INSTRUCTION,
        "instruction of several": _INSTRUCTION,
        "one": "为{names}保存的{word}是什么？",
        "several": "为{names}保存的{word}有哪些？",
        "noise": "\n".join(
            (
                "水已经烧开了。",
                "一辆公交车开了过去，接着又是一辆。",
                "有人忘了关窗户。",
                "桌上放着面包。",
                "过一会儿可能会下雨。",
            )
        ),
        "and": "和",
        "number of one": "数字",
        "number of several": "数字",
        "code of one": "代码",
        "code of several": "代码",
        "name of one": "名称",
        "name of several": "名称",
        "open": "<text>以下是正文。",
        "close": "</text>\n\n",
        "rule of one": _ASKS_FOR.format("这个值"),
        "rule of several": _ASKS_FOR.format("所有这些值，用逗号分隔"),
    },
    "needles": {
        "needle of number": "为“{name}”保存的一个数字是{value}。",
        "needle of code": "为“{name}”保存的一个代码是{value}。",
        "needle of name": "为“{name}”保存的一个名称是{value}。",
    },
    "pattern": r"为“([^“”]+)”保存的一个\w\w是([\w-]+)。",
    "harmful": r"保存的一个",
    "joints": "、|和(?=“)",
}
JSON_KV = {
    "instruction": "下面是一个 JSON 对象。请查找其中的一个键。\n\n",
    "ask": '键 "{key}" 的值是什么？',
    "rule": _ASKS_FOR.format("这个值"),
}
ADJECTIVES = """
古老 安静 明亮 柔软 坚硬 温暖 寒冷 清澈 深蓝 浅绿 金色 银色 红色 蓝色 绿色 紫色 白色 黑色 灰色 黄色 橙色 粉色 褐色
巨大 细小 高大 矮小 狭长 宽阔 平坦 陡峭 光滑 粗糙 锋利 圆形 方形 透明 神秘 勇敢 聪明 善良 快乐 忧郁 孤独 忠诚 诚实
谦虚 骄傲 勤劳 懒惰 敏捷 迟缓 强壮 瘦弱 年轻 年老 陌生 熟悉 普通 特别 稀有 珍贵 廉价 昂贵 崭新 陈旧 完整 破碎 干燥
潮湿 甜美 苦涩 清香 浓郁 新鲜 成熟 自由 沉默 热闹 繁忙 悠闲 遥远 邻近 北方 南方 东方 西方 春天 夏天 秋天 冬天 清晨
黄昏 午夜 木制 铁制 铜制 石制 雪白 漆黑 火红 翠绿 湛蓝
"""
NOUNS = """
灯塔 钟表 钢琴 帆船 飞机 火车 汽车 桥梁 城堡 宫殿 花园 森林 草原 沙漠 海洋 湖泊 河流 山谷 岛屿 港口 码头 街道
广场 市场 学校 剧院 工厂 农场 果园 磨坊 水井 风车 城墙 铁门 窗户 屋顶 楼梯 地毯 窗帘 镜子 灯笼 蜡烛 火炉 水壶 茶杯
盘子 筷子 勺子 剪刀 锤子 钉子 梯子 绳子 篮子 箱子 盒子 瓶子 口袋 帽子 围巾 手套 靴子 外套 腰带 纽扣 戒指 项链 珍珠
宝石 金币 钥匙 铁锁 地图 罗盘 铅笔 毛笔 墨水 纸张 书本 信封 邮票 图画 雕像 琴弦 长笛 小号 铃铛 风筝 气球 玩偶 棋盘
骰子 苹果 香蕉 葡萄 柠檬 樱桃 西瓜 核桃 面包 蜂蜜 玫瑰 荷花 竹子 松树 柳树 枫叶 蘑菇 老虎 狮子 大象 骆驼 斑马 狐狸
野狼 兔子 松鼠 刺猬 乌龟 青蛙 金鱼 海豚 鲸鱼 企鹅 老鹰 燕子 鸽子 孔雀 天鹅 蝴蝶 蜜蜂 蜻蜓 月亮 太阳 星星 云朵 彩虹
雪花 雨滴 闪电 石头 沙子
"""
