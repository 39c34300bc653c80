# SPDX-License-Identifier: Apache-2.0
"""Training text for the golden tokenizers: prose in many scripts, code, logs and numbers."""

import random

PROSE = (
    "The pump in hall three stopped because its pressure sensor reported a value that it couldn't have measured.",
    "We're going to restart the line at 06:45, unless the operator says that he'd rather wait; they'll decide.",
    "Every expert writes its own row, so the order in which the rows arrive doesn't change the sum.",
    "I've read the manual twice. It's short, it's clear, and nobody's name is spelled wrong in it.",
    "Die Förderpumpe wurde abgeschaltet, weil der Drucksensor für längere Zeit unplausible Werte übermittelte.",
    "Große Übertragungsverluste müssen vor der nächsten Prüfung behoben werden; außerdem fehlt die Schlüsselnummer.",
    "L'opérateur a redémarré la chaîne après avoir vérifié que l'élément défectueux était déjà remplacé.",
    "Où est passée la pièce commandée hier ? Elle n'est ni à l'entrepôt ni près de la machine.",
    "El señor Núñez comprobó la válvula mañana y tarde, pero el niño tenía razón: el motor seguía caliente.",
    "A manutenção não começou porque as peças não chegaram; amanhã verificaremos a ligação elétrica.",
    "Насос в третьем цехе остановился, потому что датчик давления показал невозможное значение.",
    "Оператор проверил журнал событий и перезапустил линию через двадцать минут.",
    "Η αντλία σταμάτησε επειδή ο αισθητήρας πίεσης έδειξε μια αδύνατη τιμή και κανείς δεν το πρόσεξε.",
    "Čerpadlo se zastavilo, protože snímač tlaku hlásil příliš vysokou hodnotu; údržba dorazí později.",
    "Pompa basınç sensörü yüzünden durdu, işçiler öğleden sonra çalışmaya başlayacaklar.",
    "Máy bơm dừng lại vì cảm biến áp suất báo một giá trị không thể có được.",
    "三号车间的水泵停机了，因为压力传感器报告了一个不可能的数值。操作员检查了日志，然后重新启动生产线。",
    "模型由许多专家组成，每个词只选择其中的两个。温度超过限值时，控制器会立即切断电源并发出警报。",
    "第三工場のポンプが停止しました。圧力センサーがありえない値を報告したためです。ログを確認してください。",
    "コンピューターのデータをダウンロードして、エラーのあるファイルをもう一度チェックしました。",
    "압력 센서가 불가능한 값을 보고했기 때문에 펌프가 멈추었습니다. 작업자가 기록을 확인하고 다시 시작했습니다.",
    "توقفت المضخة لأن حساس الضغط أرسل قيمة غير ممكنة، ثم أعاد العامل تشغيل الخط بعد عشرين دقيقة.",
    "המשאבה נעצרה כי חיישן הלחץ דיווח על ערך בלתי אפשרי, והמפעיל בדק את היומן.",
    "पंप रुक गया क्योंकि दबाव संवेदक ने असंभव मान बताया, फिर कर्मचारी ने लाइन को दोबारा चालू किया।",
    "ปั๊มหยุดทำงานเพราะเซ็นเซอร์ความดันรายงานค่าที่เป็นไปไม่ได้",
)

CODE = (
    "def {a}({b}, {c}=None):\n    if {c} is None:\n        {c} = {n}\n    return [{b}[i] + {c} for i in range(len({b}))]\n",
    "for (int {a} = 0; {a} < {n}; ++{a}) {{\n\tif ({b}[{a}] != {c}) return -1;\n\tsum_{b} += {b}[{a}] * {n}u;\n}}\n",
    "template <typename T>\nclass {A} : public {B} {{\n public:\n  explicit {A}(T {c}) : {c}_({c}) {{}}\n  T get{C}() const {{ return {c}_; }}\n}};\n",
    '{{"{a}": {n}, "{b}": [true, false, null], "{c}": "{a}/{b}", "size": {n}.5e-3}}\n',
    "SELECT {a}, COUNT(*) AS {b}_count FROM {c} WHERE {a} >= {n} GROUP BY {a} ORDER BY {b}_count DESC;\n",
    "#!/bin/sh\nset -eu\n{a}=$(grep -c '{b}' \"$1\" || true)\n[ \"${a}\" -gt {n} ] && echo \"{c}: ${a}\" >&2\n",
    "  - name: {a}\n    {b}: {{ kind: {c}, limit: {n} }}  # see {b}.md\n",
    "<div class=\"{a}-{b}\" id='{c}{n}'>&nbsp;{A} &amp; {B}</div>\n",
)

LOG = (
    "2031-0{d}-1{d} 0{d}:4{d}:{n:02d}.{n:03d} [WARN] PLC-{n} {a}: {b} = {n}.{d} bar (limit {d}.0)\n",
    "E{n:04d} {A}{B} fault, code 0x{n:04X}, restart in {d}s ... OK\n",
    "https://example.org/{a}/{b}?id={n}&lang=en#{c} user{d}@example.com\n",
    "{n},{d}{d}{d}{d};{n}%;+{d}.{d}{d}E-0{d};-{n} 1{d}000 {n}/{d}\n",
)

EMOJI = "😀 👍🏽 👩‍👩‍👧‍👦 🏳️‍🌈 🇩🇪🇨🇳 ❤️ 🚀🚀 ✅ ⚠️ → ≤ ≥ × € £ ° µ … “quoted” ‘single’ – —\n"

NAMES = ("value", "index", "buffer", "expert", "token", "weight", "router", "state", "pressure", "motor",
         "valve", "count", "layer", "result", "config", "input", "output", "handler", "reader", "name")


def training_text(seed: int = 1, rounds: int = 400) -> list[str]:
    """Lines in a fixed order; every round has one piece of each kind."""
    rng = random.Random(seed)
    lines = []
    for number in range(rounds):
        a, b, c = rng.sample(NAMES, 3)
        names = {"a": a, "b": b, "c": c, "A": a.capitalize(), "B": b.capitalize(),
                 "C": c.capitalize(), "n": rng.randrange(1000), "d": rng.randrange(1, 10)}
        lines += rng.sample(PROSE, 6)
        lines.append(rng.choice(CODE).format(**names))
        lines.append(rng.choice(LOG).format(**names))
        if number % 5 == 0:
            lines.append(EMOJI)
    return lines
