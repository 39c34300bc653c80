# SPDX-License-Identifier: Apache-2.0
"""What can go wrong in the demo plant: fault kinds, and the lines that are no fault.

A phrasing is the text a controller writes; "| lo hi unit" at its end adds a random value. Every
phrasing belongs to one fault kind only, so the kind follows from the text alone. Wording is kept
to a small vocabulary: the tokenizer has about a thousand tokens to spend on two languages.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    devices: tuple[str, ...]  # device classes that can have it
    phrasings: tuple[str, ...]
    cause_en: str
    cause_zh: str
    action_en: str
    action_zh: str


def _fault(devices: str, phrasings: str, en: str, zh: str) -> Fault:
    """`phrasings` are separated by ";", `en` and `zh` are "cause: action"."""
    cause_en, action_en = en.split(": ")
    cause_zh, action_zh = zh.split("：")
    texts = tuple(p.strip() for p in phrasings.split(";"))
    return Fault(tuple(devices.split()), texts, cause_en, cause_zh, action_en, action_zh)


FAULTS = (
    _fault("PMP FAN CNV MIX CMP LFT",
           "motor current above limit | 18 64 A; overload relay tripped; motor overload; "
           "motor torque at maximum | 110 180 %; motor blocked",
           "motor overload: clear the jam and reset the relay",
           "电机过载：清除卡阻并复位继电器"),
    _fault("PMP FAN CNV MIX CMP LFT",
           "winding temperature high | 120 165 C; motor too hot; "
           "motor temperature above limit | 95 140 C; motor thermostat open",
           "motor overheating: let the motor cool and clean the fan",
           "电机过热：冷却电机并清洁风扇"),
    _fault("PMP FAN MIX CMP",
           "vibration high | 8 25 mm; bearing noise detected; bearing temperature high | 85 120 C; "
           "bearing wear detected; bearing clearance above limit | 20 90 um",
           "bearing damage: replace the bearing",
           "轴承损坏：更换轴承"),
    _fault("CNV FAN",
           "belt slip detected | 5 40 %; belt speed below setpoint | 10 60 %; belt slipping; "
           "belt slower than motor | 5 40 %",
           "belt slip: tighten the belt",
           "皮带打滑：张紧皮带"),
    _fault("CNV",
           "belt drift switch active; belt off track | 10 60 mm; belt edge sensor active; "
           "belt position wrong",
           "belt off track: align the belt",
           "皮带跑偏：校正皮带"),
    _fault("CNV LFT",
           "chain slack detected; chain loose | 5 40 mm; chain jump detected; chain tension low",
           "loose chain: tighten the chain",
           "链条松弛：张紧链条"),
    _fault("CNV PCK LBL",
           "jam detected at inlet; jam detected at outlet; part stuck at sensor; "
           "photo sensor blocked | 5 60 s; product jam",
           "product jam: remove the stuck part",
           "物料卡堵：清除卡住的物料"),
    _fault("PMP FAN CMP VFD",
           "phase missing; supply phase lost; phase current uneven | 20 60 %; "
           "phase monitor tripped",
           "phase loss: check the fuses and the supply cable",
           "电源缺相：检查熔断器和电源电缆"),
    _fault("VFD AXS",
           "bus voltage high | 740 830 V; bus overvoltage; brake resistor overload; "
           "voltage peak while braking | 740 830 V",
           "bus overvoltage: check the brake resistor and the ramp",
           "母线过压：检查制动电阻和减速时间"),
    _fault("VFD UPS RIO",
           "supply voltage low | 140 190 V; supply undervoltage; voltage dip detected | 20 60 %; "
           "power supply weak | 18 22 V",
           "supply undervoltage: check the power supply",
           "电源欠压：检查供电电源"),
    _fault("VFD HTR",
           "earth current detected | 30 300 mA; ground fault detected; insulation low; "
           "insulation monitor tripped",
           "ground fault: measure the cable insulation",
           "接地故障：测量电缆绝缘"),
    _fault("VFD RIO VLV",
           "output short circuit; output current peak | 60 200 A; output fuse blown; "
           "short circuit at output | 1 16",
           "short circuit: check the output wiring",
           "输出短路：检查输出接线"),
    _fault("VFD PLC UPS",
           "cabinet temperature high | 50 80 C; cabinet fan stopped; cabinet too hot; "
           "cabinet filter blocked",
           "cabinet overheating: clean the cabinet filter",
           "电柜过热：清洁电柜滤网"),
    _fault("PMP",
           "dry run detected; no liquid at inlet; inlet pressure low | 0 1 bar; "
           "suction line empty; "
           "pump running dry",
           "dry run: refill the suction line and vent the pump",
           "泵干转：补液并排气"),
    _fault("FIL PMP",
           "filter blocked; filter pressure drop high | 2 6 bar; filter flow below limit | 1 9 l; "
           "filter dirty",
           "blocked filter: replace the filter",
           "滤芯堵塞：更换滤芯"),
    _fault("TNK PMP VLV",
           "leak detected; leak sensor wet; pressure falling while closed | 1 6 bar; "
           "liquid on floor detected",
           "leak: close the line and replace the seal",
           "泄漏：关闭管路并更换密封"),
    _fault("VLV",
           "valve did not open | 5 30 s; valve did not close | 5 30 s; valve stuck; "
           "valve position unknown; valve travel timeout",
           "stuck valve: check the actuator and the valve seat",
           "阀门卡死：检查执行器和阀座"),
    _fault("CYL VLV PCK",
           "air pressure low | 1 4 bar; no compressed air; air supply lost; air line open",
           "low air pressure: check the compressor and the air line",
           "气压不足：检查空压机和气路"),
    _fault("CYL",
           "extend timeout | 2 20 s; retract timeout | 2 20 s; end switch not reached; "
           "cylinder too slow | 2 20 s",
           "cylinder timeout: check the end switch",
           "气缸超时：检查限位开关"),
    _fault("GRP ROB PCK",
           "vacuum low | 10 60 %; vacuum not reached; suction cup leaking; part dropped",
           "vacuum loss: replace the suction cup",
           "真空不足：更换吸盘"),
    _fault("HYD CMP",
           "oil pressure low | 1 4 bar; oil level low | 5 25 %; oil pump lost pressure; "
           "no oil flow",
           "low oil pressure: check the oil level and the oil pump",
           "油压不足：检查油位和油泵"),
    _fault("HYD CMP",
           "oil temperature high | 70 99 C; oil too hot; oil cooler blocked; "
           "oil temperature above limit | 70 99 C",
           "oil overheating: clean the oil cooler",
           "油温过高：清洁油冷却器"),
    _fault("AXS MIX CNV",
           "grease level low | 5 25 %; grease missing; grease cycle failed; grease line blocked",
           "lack of grease: refill the grease",
           "润滑不足：补充润滑脂"),
    _fault("TNK",
           "level above maximum | 91 99 %; high level switch active; overflow detected; "
           "tank too full",
           "tank overflow: close the inlet and drain the tank",
           "储罐溢出：关闭进料并排液"),
    _fault("TNK",
           "level below minimum | 1 9 %; low level switch active; tank empty; tank ran empty",
           "tank empty: refill the tank",
           "储罐缺料：补充物料"),
    _fault("DOS",
           "dosing rate low | 10 60 %; no dosing flow; chemical empty; chemical level low | 1 9 %",
           "chemical used up: refill the chemical",
           "药剂用尽：补充药剂"),
    _fault("WGH",
           "weight above range | 10 90 kg; scale overload; scale zero not reached; "
           "scale value unstable",
           "scale error: clean and zero the scale",
           "称重异常：清洁并校零"),
    _fault("LVL PRS TMP FLW",
           "sensor wire broken; sensor signal lost; sensor current zero; sensor input open; "
           "no signal from sensor",
           "broken sensor wire: check the sensor cable",
           "传感器断线：检查传感器电缆"),
    _fault("LVL PRS TMP FLW",
           "sensor value frozen | 30 300 s; sensor value wrong; sensor drift high | 5 30 %; "
           "sensor out of range",
           "sensor drift: calibrate the sensor",
           "传感器漂移：校准传感器"),
    _fault("HTR OVN",
           "heater current zero; heater circuit open; no temperature rise | 60 300 s; "
           "heater broken",
           "heater failure: replace the heater",
           "加热器损坏：更换加热器"),
    _fault("HTR OVN",
           "oven temperature above limit | 260 420 C; thermostat tripped; heater too hot; "
           "temperature control lost",
           "overtemperature: stop heating and check the thermostat",
           "温度过高：停止加热并检查温控器"),
    _fault("BLR",
           "flame lost; ignition failed | 2 5; no flame signal; burner stopped",
           "burner failure: check the gas valve and the igniter",
           "燃烧器熄火：检查燃气阀和点火器"),
    _fault("CHL WLD",
           "coolant flow low | 1 9 l; coolant missing; coolant too hot | 45 80 C; "
           "coolant pump stopped",
           "coolant loss: check the coolant pump and the valve",
           "冷却中断：检查冷却泵和阀门"),
    _fault("CHL",
           "gas pressure low | 1 4 bar; gas charge low | 10 60 %; gas circuit freezing; "
           "cooling too weak",
           "gas loss: find the leak and refill the gas",
           "制冷剂不足：查漏并补充制冷剂"),
    _fault("RIO NET VFD ROB",
           "station lost; no answer from station; link down; connection timeout | 200 900 ms; "
           "network signal lost",
           "network loss: check the network cable and the switch",
           "通信中断：检查网线和交换机"),
    _fault("RIO NET",
           "frame errors above limit | 20 400; many retries | 10 90; frame check failed; "
           "bus noise high | 10 90 %",
           "bus noise: check the shield and the ground",
           "总线干扰：检查屏蔽和接地"),
    _fault("PLC",
           "program check failed; memory error; program damaged; block missing | 1 99",
           "program damage: load the program again",
           "程序损坏：重新下载程序"),
    _fault("PLC RIO",
           "watchdog expired | 100 500 ms; scan time above limit | 50 300 ms; cycle overrun; "
           "cycle too long | 50 300 ms",
           "cycle overrun: reduce the load and restart the controller",
           "扫描超时：减小负载并重启控制器"),
    _fault("AXS ROB",
           "encoder signal lost; encoder count wrong; encoder position jump | 5 90 mm; "
           "encoder track dirty",
           "encoder fault: check the encoder cable",
           "编码器故障：检查编码器电缆"),
    _fault("AXS ROB",
           "following error | 5 60 mm; position behind setpoint | 5 60 mm; axis too slow; "
           "axis does not follow",
           "following error: check the load and tune the axis",
           "跟随误差：检查负载并整定轴"),
    _fault("AXS ROB",
           "limit switch hit; axis beyond end position | 2 40 mm; axis over travel; "
           "axis at hard stop",
           "axis over travel: move back and home the axis",
           "轴超程：退回并重新回零"),
    _fault("ROB AXS",
           "collision detected; contact force high | 80 400 N; torque peak | 150 300 %; "
           "contact not expected",
           "collision: clear the area and check the tool",
           "碰撞：清理现场并检查工具"),
    _fault("AXS ROB CNV LFT",
           "brake did not release; brake did not hold; brake wear high | 70 99 %; "
           "brake test failed",
           "brake failure: replace the brake",
           "制动器故障：更换制动器"),
    _fault("DOR",
           "door open while running; door lock open; guard circuit open; guard not closed",
           "guard door open: close the door and reset",
           "防护门打开：关好防护门并复位"),
    _fault("EST",
           "emergency stop pressed; stop button active; safety circuit open; emergency line pulled",
           "emergency stop: find the reason and release the button",
           "急停按下：查明原因并释放按钮"),
    _fault("LTC",
           "light beam broken; light curtain blocked | 2 60 s; beam lost while running; "
           "light field entered",
           "light curtain blocked: clear the beam and reset",
           "光幕遮挡：移开遮挡并复位"),
    _fault("UPS",
           "battery charge low | 5 25 %; battery test failed; battery voltage falling | 18 22 V; "
           "battery too old | 4 9",
           "weak battery: replace the battery",
           "电池不足：更换电池"),
    _fault("CAM SCN",
           "image too dark; lens dirty; image contrast low | 5 30 %; code not readable",
           "dirty lens: clean the lens and check the light",
           "镜头脏污：清洁镜头并检查光源"),
    _fault("LBL",
           "label roll empty; no label at sensor; label end reached; label missing",
           "labels used up: load a new label roll",
           "标签用完：装入新标签卷"),
    _fault("WLD",
           "weld current unstable | 10 40 %; weld tip worn; weld tip stuck; "
           "weld count above limit | 200 900",
           "worn weld tip: replace the weld tip",
           "电极磨损：更换电极"),
)

DEVICE_CLASSES = tuple(sorted({d for fault in FAULTS for d in fault.devices}))

# Ordinary events and early signs that need no repair now: phrasing -> device classes, "" for all.
# The generator also uses fault phrasings at WARN level.
INFO_LINES = {
    "started": "", "stopped": "", "ready": "", "self test ok": "", "mode auto": "",
    "mode manual": "", "parameter saved": "", "operator login | 1 30": "",
    "speed setpoint | 10 60 Hz": "PMP FAN CNV MIX CMP LFT VFD",
    "power | 1 90 kW": "PMP FAN CNV MIX CMP LFT VFD HTR OVN BLR WLD UPS",
    "temperature | 20 80 C": "TMP HTR OVN CHL BLR HYD TNK VFD PLC",
    "pressure | 1 9 bar": "PRS PMP CMP HYD CYL BLR FIL VLV",
    "level | 20 80 %": "LVL TNK HYD DOS",
    "flow | 10 99 l": "FLW PMP DOS FIL CHL",
    "position reached": "AXS ROB CYL VLV LFT GRP DOR",
    "cycle done | 10 999": "ROB AXS CYL GRP PCK LBL WLD",
    "batch done | 10 99": "MIX WGH DOS PCK OVN TNK",
    "recipe loaded | 1 60": "MIX OVN PCK LBL WLD PLC CAM",
}
WARN_LINES = {
    "maintenance due | 5 90 h": "", "operator needed": "", "response slow | 100 900 ms": "",
    "retry | 1 5": "", "temperature rising | 60 90 C": INFO_LINES["temperature | 20 80 C"],
    "pressure falling | 1 4 bar": INFO_LINES["pressure | 1 9 bar"],
}

# What a device says when another one has stopped it.
ALARM_LINES = ("waiting for line", "stopped by safety", "line stopped", "cycle aborted",
               "no product", "standby")
